package project

import (
	"net/http"
	"sort"
	"strconv"

	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
)

// largestPage is the largest page of a list, and the default size.
const largestPage = 500

// Named is an item of a list with the name that it is ordered by.
type Named struct {
	Key string
	Doc document.Object
}

// Page returns one page of items in the order of their keys, and the token of the next page.
func (w *Core) Page(x *Call, all []Named) (page []Named, next string, err error) {
	size, err := pageSize(x, w.PageLimit)
	if err != nil {
		return nil, "", err
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].Key < all[j].Key })
	token := x.Query.Get("pageToken")
	page, next, err = core.Page(core.List[Named]{Items: all, Key: func(n Named) string { return n.Key }, Sorted: true,
		Reversed: w.Switches.On(core.ReversesLists)}, token, size)
	if err != nil {
		return nil, "", Invalid("pageToken", token, "The page token is invalid.")
	}
	return page, next, nil
}

// pageSize returns how many items a page may hold, at most limit of them unless that is zero.
func pageSize(x *Call, limit int) (int, error) {
	size := largestPage
	if requested := x.Query.Get("maxResults"); requested != "" {
		n, err := strconv.Atoi(requested)
		if err != nil || n < 0 || n > largestPage {
			return 0, Refuse(http.StatusBadRequest, "invalid",
				"Invalid value for field 'maxResults': '%s'. Values must be within the following range: [0, 500]", requested)
		}
		if n > 0 {
			size = n
		}
	}
	if limit > 0 {
		size = min(size, limit)
	}
	return size, nil
}

// List answers with one page of the items that the request's filter lets through.
func (w *Core) List(x *Call, kind string, all []Named) (*Answer, error) {
	kept, err := Filtered(x, all)
	if err != nil {
		return nil, err
	}
	page, next, err := w.Page(x, kept)
	if err != nil {
		return nil, err
	}
	d := document.Object{"kind": kind, "id": trimmedPath(x), "selfLink": x.Link(trimmedPath(x))}
	if len(page) > 0 {
		d["items"] = Documents(page)
	}
	if next != "" {
		d["nextPageToken"] = next
	}
	return OK(d), nil
}

// Scoped answers an aggregated list: one page of the items by their scopes, with a warning for each scope that has none on it, and for each
// that can't be reached. Without returnPartialSuccess one such scope fails the request. scopeOf returns the scope of an item, member is the
// list's name within a scope, scopes are all that are shown.
func (w *Core) Scoped(x *Call, kind, member string, scopes []string, all []Named, scopeOf func(document.Object) string) (*Answer, error) {
	kept, err := Filtered(x, all)
	if err != nil {
		return nil, err
	}
	reached, lost := w.reached(scopes, kept, scopeOf)
	if len(lost) > 0 && x.Query.Get("returnPartialSuccess") != "true" {
		return nil, Unreachable(lost[0])
	}
	page, next, err := w.Page(x, reached)
	if err != nil {
		return nil, err
	}
	d := document.Object{"kind": kind, "id": trimmedPath(x), "selfLink": x.Link(trimmedPath(x)),
		"items": w.byScope(member, scopes, page, scopeOf)}
	if next != "" {
		d["nextPageToken"] = next
	}
	unreachables := []any{}
	for _, scope := range lost {
		unreachables = append(unreachables, x.Link("projects/"+x.Vars["project"]+"/"+scope))
	}
	if len(lost) > 0 {
		d["unreachables"] = unreachables
	}
	return OK(d), nil
}

// reached returns the items of scopes that can be reached, and the scopes that can't.
func (w *Core) reached(scopes []string, all []Named, scopeOf func(document.Object) string) (items []Named, lost []string) {
	for _, scope := range scopes {
		if w.Outages.Get(scope) != nil {
			lost = append(lost, scope)
		}
	}
	for _, one := range all {
		if w.Outages.Get(scopeOf(one.Doc)) == nil {
			items = append(items, one)
		}
	}
	return items, lost
}

// byScope sorts the items of a page by their scopes, with a warning for each scope that has none.
func (w *Core) byScope(member string, scopes []string, page []Named, scopeOf func(document.Object) string) document.Object {
	items := document.Object{}
	for _, one := range page {
		scope := scopeOf(one.Doc)
		under, ok := items[scope].(document.Object)
		if !ok {
			under = document.Object{member: []any{}}
			items[scope] = under
		}
		list, _ := under[member].([]any)
		under[member] = append(list, one.Doc)
	}
	for _, scope := range scopes {
		code, message := "NO_RESULTS_ON_PAGE", "There are no results for scope '"+scope+"' on this page."
		if w.Outages.Get(scope) != nil {
			code, message = "UNREACHABLE", "The scope '"+scope+"' can't be reached."
		}
		if items[scope] == nil {
			items[scope] = document.Object{"warning": document.Object{"code": code, "message": message,
				"data": []any{document.Object{"key": "scope", "value": scope}}}}
		}
	}
	return items
}

// Documents returns the items of a page without their keys.
func Documents(page []Named) []any {
	out := make([]any, len(page))
	for i, one := range page {
		out[i] = one.Doc
	}
	return out
}

// trimmedPath returns the request's path from projects on.
func trimmedPath(x *Call) string {
	return linkPrefix.ReplaceAllString("https://-"+x.Path, "")
}
