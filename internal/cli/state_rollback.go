// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

func stateRollbackCommand() *session.Command {
	var autoApprove bool
	return &session.Command{
		Name:    "rollback",
		Args:    "SERIAL",
		Summary: "Makes the state what it was at the end of a serial.",
		Long: `
Only the state is changed, as a new serial; what exists is not. Objects that were made since go on existing, but cairn
does not manage them any more; objects that were destroyed since are in the state again. Both are listed, and if there
are any, the command asks before it changes the state. Plan afterwards to see how the state and what exists differ.`,
		Example: "cairn state history\ncairn state rollback 12",
		MinArgs: 1, MaxArgs: 1,
		Flags: func(f *session.Flags) {
			f.BoolVar(&autoApprove, "auto-approve", false, "do not ask before changing the state")
			session.LockFlags(f)
		},
		Run: func(ctx context.Context, s *session.Session, args []string) (int, error) {
			serial, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil || serial < 0 {
				return 0, failure.Error("Wrong serial", "The serial must be a number that \"cairn state history\" shows, and not %q.", args[0])
			}
			return rollBack(ctx, s, serial, autoApprove)
		},
	}
}

// rollBack makes the state what it was at a serial. What that loses is in the history, as part of the operation.
func rollBack(ctx context.Context, s *session.Session, serial int64, autoApprove bool) (int, error) {
	operation := fmt.Sprintf("state rollback to %d", serial)
	rollBack := func(stored *deployment.Stored) (string, map[string][]byte, error) {
		state, records, err := stored.ReadSerial(ctx, serial)
		if err != nil {
			return "", nil, err
		}
		loses, regains, err := compareObjects(stored.State, state)
		if err != nil {
			return "", nil, err
		}
		if len(loses)+len(regains) > 0 {
			s.Print("%s", rollbackText(loses, regains))
			if !autoApprove {
				if err := approveRollback(ctx, s); err != nil {
					return "", nil, err
				}
			}
		}
		if len(loses) > 0 {
			operation += fmt.Sprintf(", %s unmanaged", plural(len(loses), "object"))
		}
		return operation, statestore.Changes(stored.Records, records), nil
	}
	return changeStateAs(ctx, s, stateChange{locked: "state rollback", changes: rollBack})
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func rollbackText(loses, regains []string) string {
	var b strings.Builder
	if len(loses) > 0 {
		b.WriteString("These objects go on existing, and will not be managed any more:\n  - " + strings.Join(loses, "\n  - ") + "\n\n")
	}
	if len(regains) > 0 {
		b.WriteString("These objects will be in the state again, though they may not exist any more:\n  - " + strings.Join(regains, "\n  - ") + "\n\n")
	}
	return b.String()
}

func approveRollback(ctx context.Context, s *session.Session) error {
	s.Print("Do you want to change the state?\n  Only \"yes\" will be accepted to confirm.\n\n")
	answer, err := s.Ask(ctx, "  Enter a value: ", false)
	switch {
	case err != nil:
		return failure.Error("Approval needed", "The change of the state was not approved: %s. Answer \"yes\", or give -auto-approve. Nothing was changed.", err)
	case strings.TrimSpace(answer) != "yes":
		return failure.Error("Not approved", "The change of the state was not approved. Nothing was changed.")
	}
	s.Print("\n")
	return nil
}

// managedObject is an object that exists, as far as two states can tell whether it is the same in both: by its identifier, or without one
// by its address.
type managedObject struct{ resourceType, identity string }

// compareObjects lists the addresses of the objects that one state has and the other has not, in the order of the states.
func compareObjects(before, after *stackstate.State) (onlyBefore, onlyAfter []string, err error) {
	had, err := managedObjects(before)
	if err != nil {
		return nil, nil, err
	}
	has, err := managedObjects(after)
	if err != nil {
		return nil, nil, err
	}
	return had.without(has), has.without(had), nil
}

// objectList are the managed objects of a state with their addresses, in their order.
type objectList struct {
	addresses []string
	objects   []managedObject
}

func (l objectList) without(other objectList) []string {
	there := make(map[managedObject]int, len(other.objects)) // some providers give equal objects one identifier
	for _, object := range other.objects {
		there[object]++
	}
	var addresses []string
	for i, object := range l.objects {
		if there[object]--; there[object] < 0 {
			addresses = append(addresses, l.addresses[i])
		}
	}
	return addresses
}

func managedObjects(state *stackstate.State) (objectList, error) {
	var list objectList
	for _, component := range state.SortedComponents() {
		objects, err := tfstate.ParseObjects(component.Module)
		if err != nil {
			return list, failure.Error("State cannot be read", "The state of %s cannot be understood: %s.", component.Addr, err)
		}
		for _, object := range objects {
			if object.Addr.Resource.Mode != stackaddrs.ManagedResource {
				continue
			}
			address := object.In(component.Addr).String()
			list.addresses = append(list.addresses, address)
			list.objects = append(list.objects, managedObject{object.ProviderName() + " " + object.Addr.Resource.Type, identityOf(object, address)})
		}
	}
	return list, nil
}

func identityOf(object tfstate.Object, address string) string {
	var attributes struct {
		ID any `json:"id"`
	}
	if err := json.Unmarshal(object.Attributes, &attributes); err != nil || attributes.ID == nil || attributes.ID == "" {
		return "at " + address
	}
	return fmt.Sprint("id ", attributes.ID)
}
