package fleet

import (
	"cmp"
	"slices"
	"strings"

	"github.com/muster-project/muster/view"
)

// maxChoices bounds the values of a filter: a longer list is no help in choosing.
const maxChoices = 500

// Index holds what all queries need of the same pools, so that it is made once for all of them. It is not changed.
type Index struct {
	pools []*view.Pool
	// lines are ordered: problems first, then by namespace and name. texts are searched, in lower case.
	lines []Line
	texts []string
	// choices are the values of namespaces, clusters, clouds and kinds.
	choices [4][]string
	known   map[*view.Pool]string
}

// NewIndex returns the index of pools, which are ordered by namespace and name. cloudOf returns the title of the cloud of an infrastructure
// kind. What a former index, which may be nil, has of the same pools is used again.
func NewIndex(pools []*view.Pool, cloudOf func(kind string) string, former *Index) *Index {
	x := &Index{pools: pools, lines: make([]Line, 0, len(pools)), texts: make([]string, 0, len(pools)),
		known: make(map[*view.Pool]string, len(pools))}
	values := [4]map[string]bool{{}, {}, {}, {}}
	for _, p := range pools {
		l := Line{Pool: p, Cloud: cloudOf(p.Infrastructure.Kind)}
		for k, value := range []string{p.Namespace, p.Cluster, l.Cloud, p.Infrastructure.Kind} {
			values[k][value] = true
		}
		x.lines = append(x.lines, l)
	}
	slices.SortStableFunc(x.lines, func(a, b Line) int { return cmp.Compare(a.Level.Rank(), b.Level.Rank()) })
	for _, l := range x.lines {
		text, ok := "", false
		if former != nil {
			text, ok = former.known[l.Pool]
		}
		if !ok {
			text = l.text()
		}
		x.known[l.Pool] = text
		x.texts = append(x.texts, text)
	}
	for k := range values {
		x.choices[k] = choices(values[k])
	}
	return x
}

// Of reports whether the index is of these very pools.
func (x *Index) Of(pools []*view.Pool) bool { return x != nil && slices.Equal(x.pools, pools) }

// text returns what a search looks through. The parts are separated by what no search has.
func (l Line) text() string {
	return strings.ToLower(strings.Join([]string{l.Name, l.Namespace, l.Cluster, l.Infrastructure.Kind, l.Cloud, l.State, l.Message}, "\n"))
}

// choices returns the values of a filter in order.
func choices(values map[string]bool) []string {
	delete(values, "")
	list := make([]string, 0, len(values))
	for value := range values {
		list = append(list, value)
	}
	slices.Sort(list)
	return list[:min(len(list), maxChoices)]
}
