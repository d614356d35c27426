package fleet

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/view"
)

func cloudOf(kind string) string { return strings.TrimSuffix(kind, "MachinePool") }

// pools are 250 pools in three namespaces, of which every 50th has a problem and every 7th progresses.
func pools() []*view.Pool {
	var list []*view.Pool
	for k := range 250 {
		p := &view.Pool{Namespace: fmt.Sprintf("team-%d", k/100), Name: fmt.Sprintf("pool-%03d", k), Cluster: "c", State: "Running",
			Level: view.Healthy, Desired: ptr.To(int32(2)), Ready: ptr.To(int32(2)), Message: "2 of 2 machines are Ready",
			Infrastructure: view.Reference{Kind: []string{"AMachinePool", "BMachinePool"}[k%2], Name: "i"}}
		switch {
		case k%50 == 49:
			p.State, p.Level, p.Message, p.Ready = "Error", view.Problem, "Quota of zone X is used up", nil
		case k%7 == 0:
			p.State, p.Level = "Updating", view.Progressing
		}
		list = append(list, p)
	}
	return list
}

// TestSelect holds what a query selects, and in which order.
func TestSelect(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why, query         string
		selected, lines    int
		pages, page        int
		first              string
		filtered           bool
		counts             int
		machines, readyNow int
	}{
		{"problems come first", "", 250, 100, 3, 1, "pool-049", false, 3, 500, 490},
		{"the last page has the rest", "page=3", 250, 50, 3, 3, "", false, 3, 500, 490},
		{"a page beyond the last is the last", "page=99", 250, 50, 3, 3, "", false, 3, 500, 490},
		{"a page that is no number is the first", "page=x", 250, 100, 3, 1, "pool-049", false, 3, 500, 490},
		{"a search is in any case, of all words in any field", "q=quota+TEAM-1+used", 2, 2, 1, 1, "pool-149", true, 1, 4, 0},
		{"a search that matches nothing", "q=nothing", 0, 0, 1, 1, "", true, 0, 0, 0},
		{"a state keeps the counts of the others", "state=Error", 5, 5, 1, 1, "pool-049", true, 3, 10, 0},
		{"a level", "level=progressing", 35, 35, 1, 1, "pool-000", true, 3, 70, 70},
		{"a namespace", "namespace=team-2", 50, 50, 1, 1, "pool-249", true, 3, 100, 98},
		{"a cloud", "cloud=A", 125, 100, 2, 1, "", true, 2, 250, 250},
		{"an unknown value selects nothing", "kind=None", 0, 0, 1, 1, "", true, 0, 0, 0},
	} {
		v, err := url.ParseQuery(c.query)
		if err != nil {
			t.Fatal(err)
		}
		f := NewIndex(pools(), cloudOf, nil).Select(Parse(v))
		if f.Total != 250 || f.Selected != c.selected || len(f.Lines) != c.lines || f.Pages != c.pages || f.Query.Page != c.page ||
			f.Query.Filtered() != c.filtered || len(f.Counts) != c.counts || f.Machines != c.machines || f.Ready != c.readyNow {
			t.Errorf("%s: got %d selected, %d lines, page %d of %d, counts %v, %d of %d ready, filtered %t", c.why, f.Selected, len(f.Lines),
				f.Query.Page, f.Pages, f.Counts, f.Ready, f.Machines, f.Query.Filtered())
		}
		if c.first != "" && f.Lines[0].Name != c.first {
			t.Errorf("%s: want %s first, got %s", c.why, c.first, f.Lines[0].Name)
		}
		if !slices.IsSortedFunc(f.Lines, func(a, b Line) int { return a.Level.Rank() - b.Level.Rank() }) {
			t.Errorf("%s: want problems first", c.why)
		}
		if f.Last()-f.First()+1 != max(c.lines, 1) && c.lines > 0 {
			t.Errorf("%s: want the numbers of the lines, got %d to %d", c.why, f.First(), f.Last())
		}
	}
}

// TestQueryRoundTrip holds that the address of a query is read as the same query.
func TestQueryRoundTrip(t *testing.T) {
	t.Parallel()
	for _, q := range []Query{{Page: 1}, {Search: `a&b=c "d" <e>`, Page: 3},
		{State: "Error", Namespace: "n", Cluster: "c", Cloud: "Google Cloud", Kind: "K", Page: 1}, {Level: view.Problem, Page: 1}} {
		v, err := url.ParseQuery(strings.TrimPrefix(q.String(), "?"))
		if err != nil {
			t.Fatal(err)
		}
		if got := Parse(v); got != q {
			t.Errorf("want %+v, got %+v", q, got)
		}
	}
	if got := Parse(url.Values{"q": {strings.Repeat("x", 5000)}}); len(got.Search) != maxSearch {
		t.Errorf("want a search of at most %d bytes, got %d", maxSearch, len(got.Search))
	}
}
