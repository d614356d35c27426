package azure

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"
)

// tagged is something that has tags: how they are read, and how they are changed.
type tagged struct {
	id   string
	tags map[string]string
	put  func(map[string]string)
}

// taggedAt finds what lies at a scope.
func (w *environment) taggedAt(scope string) (*tagged, error) {
	if s := w.sets.Get(strings.ToLower(scope)); s != nil {
		return &tagged{s.ID, pairs(s.Doc, "tags"), func(t map[string]string) {
			s.Doc["tags"] = ofStrings(t)
			w.changed(s)
		}}, nil
	}
	for _, m := range w.machines.All() {
		if s := w.sets.Get(m.Set); s != nil && m.Flexible && strings.EqualFold(m.id(s), scope) {
			return &tagged{m.id(s), m.Tags, func(t map[string]string) {
				m.Tags = t
				m.Version++
				w.touch(m)
			}}, nil
		}
	}
	if r := w.resources.Get(strings.ToLower(scope)); r != nil {
		return &tagged{r.ID, pairs(r.Doc, "tags"), func(t map[string]string) {
			r.Doc["tags"] = ofStrings(t)
			w.resources.Touch(strings.ToLower(scope))
		}}, nil
	}
	return nil, notFound(kindOf(strings.Split(strings.Trim(scope, "/"), "/")), lastOf(scope), "")
}

func (t *tagged) show() document {
	return document{
		"id": t.id + "/providers/Microsoft.Resources/tags/default", "name": "default", "type": "Microsoft.Resources/tags",
		"properties": document{"tags": ofStrings(t.tags)},
	}
}

func (w *environment) getTags(x *exchange) (*answer, error) {
	t, err := w.taggedAt(x.vars["scope"])
	if err != nil {
		return nil, err
	}
	return ok(t.show()), nil
}

func (w *environment) putTags(x *exchange) (*answer, error) {
	return w.changeTags(x, func(document) string { return "Replace" })
}

func (w *environment) patchTags(x *exchange) (*answer, error) {
	return w.changeTags(x, func(d document) string { return text(d, "operation") })
}

// changeTags puts tags there, takes them away, or both.
func (w *environment) changeTags(x *exchange, operation func(document) string) (*answer, error) {
	var body document
	if err := json.Unmarshal(x.body, &body); err != nil || under(body, "properties") == nil {
		return nil, refuse(http.StatusBadRequest, "InvalidRequestContent", "The request content was invalid and could not be deserialized.")
	}
	t, err := w.taggedAt(x.vars["scope"])
	if err != nil {
		return nil, err
	}
	next, err := edited(t.tags, pairs(body, "properties.tags"), operation(body))
	if err != nil {
		return nil, err
	}
	if err := checkTags(nil, document{"tags": ofStrings(next)}); err != nil {
		return nil, err
	}
	t.put(next)
	t.tags = next
	return ok(t.show()), nil
}

// edited is what an operation makes of tags.
func edited(tags, given map[string]string, operation string) (map[string]string, error) {
	next := cloned(tags)
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
		return nil, refuse(http.StatusBadRequest, "InvalidTagsPatchOperation", "The tags patch operation '%s' is not Merge, Replace or Delete.", operation)
	}
	return next, nil
}
