package fleet

import (
	"cmp"
	"slices"

	"github.com/muster-project/muster/view"
)

// Line is one pool.
type Line struct {
	*view.Pool
	// Cloud is the title of the pool's cloud; empty for kinds of other providers.
	Cloud string `json:"cloud,omitempty"`
}

// Count is the number of pools in a state.
type Count struct {
	State string     `json:"state"`
	Level view.Level `json:"level"`
	Pools int        `json:"pools"`
}

// APIVersion and Kind begin the JSON form. Fields are added to it, never renamed or removed.
const (
	APIVersion = "page.muster.dev/v1"
	Kind       = "Fleet"
)

// Fleet is one page of a list of pools.
type Fleet struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Query      Query  `json:"query"`
	// Total is the number of all pools, Selected how many the query selects. Machines and Ready are their counts, as far as they are known.
	Total    int `json:"total"`
	Selected int `json:"selected"`
	Machines int `json:"machines"`
	Ready    int `json:"ready"`
	// Counts are the states of the pools that the query selects without its state and level, most urgent first.
	Counts []Count `json:"counts"`
	Pages  int     `json:"pages"`
	// Lines are those of the page, problems first.
	Lines []Line `json:"lines"`
	// Namespaces, Clusters, Clouds and Kinds are the values of all pools, for filters. A long list is cut.
	Namespaces []string `json:"namespaces"`
	Clusters   []string `json:"clusters"`
	Clouds     []string `json:"clouds"`
	Kinds      []string `json:"kinds"`
}

// Select returns the page that a query selects.
func (x *Index) Select(q Query) Fleet {
	f := Fleet{APIVersion: APIVersion, Kind: Kind, Query: q, Total: len(x.lines), Lines: []Line{}, Counts: []Count{},
		Namespaces: x.choices[0], Clusters: x.choices[1], Clouds: x.choices[2], Kinds: x.choices[3]}
	counts, words := map[Count]int{}, q.words()
	var lines []Line
	for k, l := range x.lines {
		if !q.matches(l, x.texts[k], words) {
			continue
		}
		counts[Count{State: l.State, Level: l.Level}]++
		if (q.State == "" || q.State == l.State) && (q.Level == "" || q.Level == l.Level) {
			lines = append(lines, l)
			f.add(l.Pool)
		}
	}
	for c, n := range counts {
		f.Counts = append(f.Counts, Count{c.State, c.Level, n})
	}
	slices.SortFunc(f.Counts, func(a, b Count) int {
		return cmp.Or(cmp.Compare(a.Level.Rank(), b.Level.Rank()), cmp.Compare(b.Pools, a.Pools), cmp.Compare(a.State, b.State))
	})
	f.paginate(lines)
	return f
}

// add counts the machines of a pool.
func (f *Fleet) add(p *view.Pool) {
	if p.Desired != nil {
		f.Machines += int(*p.Desired)
	}
	if p.Ready != nil {
		f.Ready += int(*p.Ready)
	}
}

// paginate keeps the lines of the page, or of the last one if there are fewer.
func (f *Fleet) paginate(lines []Line) {
	f.Selected = len(lines)
	f.Pages = max(1, (len(lines)+PageSize-1)/PageSize)
	f.Query.Page = min(max(f.Query.Page, 1), f.Pages)
	begin := (f.Query.Page - 1) * PageSize
	f.Lines = append(f.Lines, lines[begin:min(begin+PageSize, len(lines))]...)
}

// First and Last return the numbers of the first and the last line of the page, from 1; both are 0 without lines.
func (f Fleet) First() int {
	if f.Selected == 0 {
		return 0
	}
	return (f.Query.Page-1)*PageSize + 1
}

// Last is described at First.
func (f Fleet) Last() int { return min(f.Query.Page*PageSize, f.Selected) }

// Previous and Next return the numbers of the pages beside this one.
func (f Fleet) Previous() int { return f.Query.Page - 1 }

// Next is described at Previous.
func (f Fleet) Next() int { return f.Query.Page + 1 }

// Shown returns the number of pools in all counts.
func (f Fleet) Shown() (n int) {
	for _, c := range f.Counts {
		n += c.Pools
	}
	return n
}

// SameLines reports whether two pages have the same pools in the same order.
func (f Fleet) SameLines(other Fleet) bool {
	return slices.EqualFunc(f.Lines, other.Lines, func(a, b Line) bool { return a.Namespace == b.Namespace && a.Name == b.Name })
}

// SameCounts reports whether two pages have the same figures above their lines.
func (f Fleet) SameCounts(other Fleet) bool {
	return f.Total == other.Total && f.Selected == other.Selected && f.Machines == other.Machines && f.Ready == other.Ready &&
		slices.Equal(f.Counts, other.Counts)
}
