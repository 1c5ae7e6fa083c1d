// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package differential

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/nativetest"
	"github.com/cairnstacks/cairn/internal/testprovider"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

func showPlan(w io.Writer, p *engine.PlanResult, mode engine.Mode) {
	for _, c := range p.Changes {
		showChange(w, "", c)
	}
	for _, c := range p.Drift {
		showChange(w, "outside: ", c)
	}
	for _, d := range p.Deferred {
		showChange(w, "deferred for "+d.Reason+": ", d.Change)
	}
	for _, i := range p.Invocations {
		showInvocation(w, "", i)
	}
	for _, d := range p.DeferredInvocations {
		showInvocation(w, "deferred for "+d.Reason+": ", d.Invocation)
	}
	showOutputs(w, p.Outputs, mode)
	showChecks(w, p.Checks)
	fmt.Fprintf(w, "complete %t, applyable %t\n", p.Complete, p.Applyable)
}

func showInvocation(w io.Writer, prefix string, i *engine.Invocation) {
	t := i.Trigger
	fmt.Fprintf(w, "%sinvoke %s %s %s (%d.%d, %s)\n", prefix, i.Addr, t.Event, t.Resource, t.Block, t.Position, t.OnFailure)
	showObject(w, "+", i.Config)
}

func showChange(w io.Writer, prefix string, c *engine.Change) {
	fmt.Fprintf(w, "%s%s %s", prefix, c.Action, c.Address())
	if c.Deposed != "" {
		fmt.Fprint(w, " deposed")
	}
	if c.IsMove() {
		fmt.Fprintf(w, " was %s", c.PreviousAddr)
	}
	if i := c.Importing; i != nil && i.Identity != cty.NilVal {
		fmt.Fprintf(w, " importing %s", objectText(i.Identity))
	} else if i != nil {
		fmt.Fprintf(w, " importing %q", i.ID)
	}
	if c.Reason != "" {
		fmt.Fprintf(w, " (%s)", c.Reason)
	}
	var paths []string
	for _, path := range c.Replace {
		paths = append(paths, marks.DescribePath(path))
	}
	slices.Sort(paths)
	for _, path := range paths {
		fmt.Fprintf(w, " replace %s", path)
	}
	fmt.Fprintln(w)
	if c.Action != engine.ActionNoOp {
		showObject(w, "-", c.Before)
	}
	if c.Action != engine.ActionDelete {
		showObject(w, "+", c.After)
	}
}

// showObject shows the attributes that are not null.
func showObject(w io.Writer, sign string, object cty.Value) {
	if object == cty.NilVal || object.IsNull() {
		return
	}
	fmt.Fprintf(w, "  %s %s\n", sign, objectText(object))
}

func objectText(object cty.Value) string {
	bare, found := object.Unmark()
	if !bare.IsKnown() || !bare.Type().IsObjectType() {
		return stable(nativetest.ShowValue(object))
	}
	values := map[string]cty.Value{}
	for name, value := range bare.AsValueMap() {
		if content, _ := value.Unmark(); !content.IsKnown() || !content.IsNull() || value.IsMarked() {
			inside, _ := value.UnmarkDeep() // in values that are sensitive as a whole, plans of terraform mark nothing again
			if value.IsMarked() {
				value = inside.WithMarks(value.Marks())
			}
			values[name] = value
		}
	}
	return stable(nativetest.ShowValue(cty.ObjectVal(values).WithMarks(found)))
}

// showOutputs shows outputs, of which there are none when everything is destroyed, whether engines
// have null for them or nothing.
func showOutputs(w io.Writer, outputs map[string]cty.Value, mode engine.Mode) {
	if mode == engine.Destroy {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		value := outputs[name]
		fmt.Fprintf(w, "output %s = %s\n", name, typedText(value))
	}
}

// typedText returns a value with its type, unless it is a null without one.
func typedText(value cty.Value) string {
	if bare, _ := value.Unmark(); bare.IsKnown() && bare.IsNull() && bare.Type() == cty.DynamicPseudoType {
		return nativetest.ShowValue(value)
	}
	return stable(nativetest.ShowValue(value)) + ", " + typeexpr.TypeString(value.Type())
}

func showChecks(w io.Writer, checks []engine.CheckResult) {
	sorted := slices.SortedFunc(slices.Values(checks), func(a, b engine.CheckResult) int { return strings.Compare(a.Address, b.Address) })
	for _, check := range sorted {
		fmt.Fprintf(w, "check %s %s: %s\n", check.Kind, check.Address, check.Status)
		for _, object := range check.Objects {
			fmt.Fprintf(w, "  %s: %s %q\n", object.Address, object.Status, object.Messages)
		}
	}
}

func showResult(w io.Writer, result *engine.ApplyResult, mode engine.Mode) error {
	doc, err := tfstate.Parse(result.State)
	if err != nil {
		return err
	}
	objects, err := doc.Objects()
	if err != nil {
		return err
	}
	for i := range objects {
		fmt.Fprintln(w, storedText(&objects[i]))
	}
	stored, err := doc.Outputs()
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(stored)) {
		sensitive := ""
		if stored[name].Sensitive {
			sensitive = "sensitive "
		}
		fmt.Fprintf(w, "stored output %s = %s%s\n", name, sensitive, typedText(stored[name].Value))
	}
	showOutputs(w, result.Outputs, mode)
	showChecks(w, result.Checks)
	return nil
}

// storedText returns an object of a state, with the attributes that are not null.
func storedText(o *tfstate.Object) string {
	words := []string{"stored", o.Addr.String()}
	if o.Deposed != "" {
		words = append(words, "deposed")
	}
	if o.Tainted {
		words = append(words, "tainted")
	}
	if o.CreateBeforeDestroy {
		words = append(words, "cbd")
	}
	for _, name := range o.Dependencies {
		words = append(words, "depends="+name)
	}
	if o.SchemaVersion != 0 {
		words = append(words, fmt.Sprintf("version=%d", o.SchemaVersion))
	}
	if o.Private != "" {
		private, err := base64.StdEncoding.DecodeString(o.Private)
		if err != nil {
			private = []byte(err.Error())
		}
		words = append(words, fmt.Sprintf("private=%q", private))
	}
	if len(o.Identity) > 0 {
		words = append(words, "identity="+withoutNulls(o.Identity))
	}
	if paths := sortedList(o.SensitiveAttributes); paths != "[]" {
		words = append(words, "sensitive="+paths)
	}
	return strings.Join(words, " ") + " " + stable(withoutNulls(o.Attributes))
}

// withoutNulls returns a JSON object without the members that are null, in the order of their
// names.
func withoutNulls(text json.RawMessage) string {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var members map[string]any
	if err := decoder.Decode(&members); err != nil {
		return string(text)
	}
	maps.DeleteFunc(members, func(_ string, value any) bool { return value == nil })
	return jsonText(members)
}

// sortedList returns a JSON list with its elements in order.
func sortedList(text json.RawMessage) string {
	var elements []any
	if len(text) > 0 {
		if err := json.Unmarshal(text, &elements); err != nil {
			return string(text)
		}
	}
	texts := []string{}
	for _, element := range elements {
		texts = append(texts, jsonText(element))
	}
	slices.Sort(texts)
	return "[" + strings.Join(texts, ",") + "]"
}

func jsonText(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// counted are the calls that are compared.
var counted = map[string]string{
	"ReadResource":           "read",
	"PlanResourceChange":     "plan",
	"ApplyResourceChange":    "apply",
	"ImportResourceState":    "import",
	"MoveResourceState":      "move",
	"ReadDataSource":         "read data",
	"OpenEphemeralResource":  "open",
	"RenewEphemeralResource": "renew",
	"CloseEphemeralResource": "close",
	"InvokeAction":           "invoke",
}

// showCalls shows calls: sorted, and then, where that counts, the order of those that change
// something. Objects that take long are not in it: they are for others to wait.
func showCalls(w io.Writer, while string, calls []testprovider.Call, ordered bool) {
	var lines, order []string
	for _, call := range calls {
		method := counted[call.RPC]
		if method == "" || call.Finished {
			continue
		}
		line := fmt.Sprintf("  %s %s", method, call.Type)
		if call.ID != "" && len(call.Values) == 0 {
			line += " " + call.ID
		}
		for _, name := range slices.Sorted(maps.Keys(call.Values)) {
			if value := call.Values[name]; value != "null" && value != `""` {
				line += " " + name + "=" + value
			}
		}
		lines = append(lines, stable(line)+"\n")
		if method != "plan" && call.Type != "fake_slow" {
			object := cmp.Or(call.ID, call.Values["config"])
			order = append(order,
				stable(strings.Join(strings.Fields(strings.Join([]string{"  " + method, call.Type, call.Action, object}, " ")), " "))+"\n")
		}
	}
	slices.Sort(lines)
	if len(lines) > 0 {
		fmt.Fprintf(w, "calls while %s:\n%s", while, strings.Join(lines, ""))
	}
	if ordered {
		fmt.Fprintf(w, "in this order:\n%s", "  "+strings.Join(order, "  "))
	}
}

// showDiagnostics shows diagnostics in an order of their own, the same once. Terraform has some
// twice, once without a place.
func showDiagnostics(w io.Writer, diags hcl.Diagnostics) {
	placed := map[string]bool{} // summaries
	var messages []message
	for _, diag := range diags {
		m := newMessage(diag)
		messages = append(messages, m)
		placed[m.summary] = placed[m.summary] || m.hasPlace()
	}
	lines := map[string]bool{}
	for _, m := range messages {
		if m.hasPlace() || !placed[m.summary] {
			lines[m.String()] = true
		}
	}
	for _, line := range slices.Sorted(maps.Keys(lines)) {
		fmt.Fprintln(w, line)
	}
}

var uuid = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// stable replaces texts that are made up anew in each run.
func stable(text string) string { return uuid.ReplaceAllString(text, "UUID") }
