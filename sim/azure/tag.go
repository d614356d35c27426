package azure

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"

	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/document"
)

// tagged is something that has tags: how they are read, and how they are changed.
type tagged struct {
	id   string
	tags map[string]string
	put  func(map[string]string)
}

// taggedAt finds what lies at a scope.
func (w *environment) taggedAt(scope string) (*tagged, error) {
	if id, tags, put := w.compute.Tagged(scope); id != "" {
		return &tagged{id, tags, put}, nil
	}
	if id, tags, put := w.containers.Tagged(scope); id != "" {
		return &tagged{id, tags, put}, nil
	}
	if r := w.Resources.Get(strings.ToLower(scope)); r != nil {
		return &tagged{r.ID, document.Pairs(r.Doc, "tags"), func(t map[string]string) {
			r.Doc["tags"] = document.OfStrings(t)
			w.Resources.Touch(strings.ToLower(scope))
		}}, nil
	}
	return nil, arm.NotFound(arm.KindOf(strings.Split(strings.Trim(scope, "/"), "/")), arm.LastOf(scope), "")
}

func (t *tagged) show() document.Object {
	return document.Object{
		"id": t.id + "/providers/Microsoft.Resources/tags/default", "name": "default", "type": "Microsoft.Resources/tags",
		"properties": document.Object{"tags": document.OfStrings(t.tags)},
	}
}

func (w *environment) getTags(x *arm.Call) (*arm.Answer, error) {
	t, err := w.taggedAt(x.Vars["scope"])
	if err != nil {
		return nil, err
	}
	return arm.OK(t.show()), nil
}

func (w *environment) putTags(x *arm.Call) (*arm.Answer, error) {
	return w.changeTags(x, func(document.Object) string { return "Replace" })
}

func (w *environment) patchTags(x *arm.Call) (*arm.Answer, error) {
	return w.changeTags(x, func(d document.Object) string { return document.Text(d, "operation") })
}

// changeTags puts tags there, takes them away, or both.
func (w *environment) changeTags(x *arm.Call, operation func(document.Object) string) (*arm.Answer, error) {
	var body document.Object
	if err := json.Unmarshal(x.Body, &body); err != nil || document.Under(body, "properties") == nil {
		return nil, arm.Refuse(http.StatusBadRequest, "InvalidRequestContent", "The request content was invalid and could not be deserialized.")
	}
	t, err := w.taggedAt(x.Vars["scope"])
	if err != nil {
		return nil, err
	}
	next, err := edited(t.tags, document.Pairs(body, "properties.tags"), operation(body))
	if err != nil {
		return nil, err
	}
	if err := arm.CheckTags(document.Object{"tags": document.OfStrings(next)}); err != nil {
		return nil, err
	}
	t.put(next)
	t.tags = next
	return arm.OK(t.show()), nil
}

// edited is what an operation makes of tags.
func edited(tags, given map[string]string, operation string) (map[string]string, error) {
	next := document.Overlaid(tags, nil)
	switch operation {
	case "Replace":
		return given, nil
	case "Merge":
		maps.Copy(next, given)
	case "Delete":
		for k, v := range given {
			if v == "" || next[k] == v {
				delete(next, k)
			}
		}
	default:
		return nil, arm.Refuse(http.StatusBadRequest, "InvalidTagsPatchOperation",
			"The tags patch operation '%s' is not Merge, Replace or Delete.", operation)
	}
	return next, nil
}
