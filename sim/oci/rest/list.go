package rest

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
)

// Listing describes the filters, the order and the pages of a list.
type Listing struct {
	// Filters are the parameters that select items, each with the member that is compared with any of the values.
	Filters map[string]string
	// Orders are the values of sortBy, each with the member that sorts.
	Orders map[string]string
	// Order is the default of sortBy, Descending are those whose order is so by default.
	Order      string
	Descending []string
	// Show returns an item as the list shows it.
	Show func(document.Object) document.Object
	// Size is the default number of items in a page, Most the largest.
	Size, Most int
}

// List answers with a page of the resources of the compartment that a request names.
func (x *Exchange) List(state *core.State, how Listing, all []document.Object) (Reply, error) {
	compartment, err := x.Compartment(x.Query.Get("compartmentId"))
	if err != nil {
		return Reply{}, err
	}
	return x.Page(state, how, slices.DeleteFunc(all, func(one document.Object) bool {
		return document.Text(one, "compartmentId") != compartment
	}))
}

// Page answers with the page of a list that a request asks for. Items have the member id.
func (x *Exchange) Page(state *core.State, how Listing, all []document.Object) (Reply, error) {
	all = slices.DeleteFunc(all, func(d document.Object) bool {
		for name, member := range how.Filters {
			if want := x.Query[name]; len(want) > 0 && !slices.Contains(want, document.Text(d, member)) {
				return true
			}
		}
		return false
	})
	if err := x.sort(how, all); err != nil {
		return Reply{}, err
	}
	size, err := x.limit(how)
	if err != nil {
		return Reply{}, err
	}
	if state.PageLimit > 0 {
		size = min(size, state.PageLimit)
	}
	key := func(d document.Object) string { return document.Text(d, "id") }
	items, next, err := core.Page(core.List[document.Object]{Items: core.Ordered(state.Environment, all), Key: key}, x.Query.Get("page"), size)
	if err != nil {
		return Reply{}, Invalid("Invalid page: %q.", x.Query.Get("page"))
	}
	shown := []any{}
	for _, one := range items {
		shown = append(shown, how.Show(one))
	}
	out := Shown(shown, "")
	if next != "" {
		out.Header["Opc-Next-Page"] = next
	}
	return out, nil
}

// limit returns how many items a page has.
func (x *Exchange) limit(how Listing) (int, error) {
	text := x.Query.Get("limit")
	if text == "" {
		return how.Size, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > how.Most {
		return 0, Invalid("Invalid limit: %q is not between 1 and %d.", text, how.Most)
	}
	return n, nil
}

// sort brings items into the order that a request asks for.
func (x *Exchange) sort(how Listing, all []document.Object) error {
	by, order := cmp.Or(x.Query.Get("sortBy"), how.Order), x.Query.Get("sortOrder")
	member, known := how.Orders[by]
	switch {
	case !known && by != "":
		return Invalid("Invalid sortBy: %q.", by)
	case order != "" && order != "ASC" && order != "DESC":
		return Invalid("Invalid sortOrder: %q.", order)
	}
	descending := order == "DESC" || order == "" && slices.Contains(how.Descending, by)
	slices.SortStableFunc(all, func(a, b document.Object) int {
		n := cmp.Compare(document.Text(a, member), document.Text(b, member))
		if descending {
			return -n
		}
		return n
	})
	return nil
}
