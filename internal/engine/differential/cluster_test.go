// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package differential

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
)

// apiPrefix is before the paths of a cluster.
const apiPrefix = "/api/v1/"

// object is an object stored by a cluster, in its JSON form.
type object = map[string]any

// cluster answers as the API of Kubernetes does for objects that nobody works on: they are stored,
// changed by JSON patches (RFC 6902), and deleted at once.
type cluster struct {
	mu struct {
		sync.Mutex
		objects map[string]object // by path
	}
}

func newCluster() *cluster {
	c := &cluster{}
	c.mu.objects = map[string]object{}
	return c
}

// ServeHTTP implements [http.Handler].
func (c *cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	status, answer := c.answer(r)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer)
}

func (c *cluster) answer(r *http.Request) (int, object) {
	path := strings.TrimSuffix(r.URL.Path, "/")
	if r.Method == http.MethodPost {
		created := object{}
		if err := json.NewDecoder(r.Body).Decode(&created); err != nil {
			return failed(http.StatusBadRequest, "BadRequest", err.Error())
		}
		metadata := created["metadata"].(object) //nolint:forcetypeassert // or the test fails
		path += "/" + fmt.Sprint(metadata["name"])
		if c.mu.objects[path] != nil {
			return failed(http.StatusConflict, "AlreadyExists", path+" already exists")
		}
		metadata["uid"], metadata["selfLink"], metadata["generation"], metadata["resourceVersion"] = "uid-of-"+path, path, 1, "1"
		c.mu.objects[path] = created
		return http.StatusCreated, created
	}
	stored := c.mu.objects[path]
	if stored == nil {
		return failed(http.StatusNotFound, "NotFound", path+" not found")
	}
	switch r.Method {
	case http.MethodPatch:
		var patch []struct {
			Op, Path string
			Value    any
		}
		if err := json.NewDecoder(r.Body).Decode(&patch); err != nil {
			return failed(http.StatusBadRequest, "BadRequest", err.Error())
		}
		for _, p := range patch {
			at, steps := stored, strings.Split(strings.TrimPrefix(p.Path, "/"), "/")
			for _, step := range steps[:len(steps)-1] {
				next, ok := at[step].(object)
				if !ok {
					next = object{}
					at[step] = next
				}
				at = next
			}
			last := strings.NewReplacer("~1", "/", "~0", "~").Replace(steps[len(steps)-1])
			if p.Op == "remove" {
				delete(at, last)
			} else {
				at[last] = p.Value
			}
		}
		metadata := stored["metadata"].(object) //nolint:forcetypeassert // it was stored with some
		// The versions of other objects do not count, as they change in no order.
		metadata["resourceVersion"] = fmt.Sprint(metadata["resourceVersion"], "1")
	case http.MethodDelete:
		maps.DeleteFunc(c.mu.objects, func(other string, _ object) bool { return other == path || strings.HasPrefix(other, path+"/") })
	}
	return http.StatusOK, stored
}

func failed(status int, reason, message string) (int, object) {
	return status, object{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": status, "reason": reason, "message": message}
}
