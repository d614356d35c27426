// Package fleet builds the view of all pools: counts by state, and one page of the lines that a query selects. It is pure.
package fleet

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/muster-project/muster/view"
)

// PageSize is the number of lines of a page. A browser takes 150 ms for a table of so many lines, and 40 s for one of 10,000.
const PageSize = 100

// maxSearch bounds the length of a search, in bytes.
const maxSearch = 200

// Query selects lines, as the address of the page does after its question mark. The zero Query selects all.
type Query struct {
	// Search is matched against the name, namespace, cluster, kind, state and sentence of a pool: each word must occur in one of them.
	Search string `json:"search,omitempty"`
	// Level, State, Namespace, Cluster, Cloud and Kind must be equal to the pool's, if set.
	Level     view.Level `json:"level,omitempty"`
	State     string     `json:"state,omitempty"`
	Namespace string     `json:"namespace,omitempty"`
	Cluster   string     `json:"cluster,omitempty"`
	Cloud     string     `json:"cloud,omitempty"`
	Kind      string     `json:"kind,omitempty"`
	// Page counts from 1.
	Page int `json:"page"`
}

// Parse reads a query from the values of an address. Values that are unknown select nothing or are ignored; none is an error.
func Parse(v url.Values) Query {
	q := Query{
		Search: strings.TrimSpace(v.Get("q")), Level: view.Level(v.Get("level")), State: v.Get("state"), Namespace: v.Get("namespace"),
		Cluster: v.Get("cluster"), Cloud: v.Get("cloud"), Kind: v.Get("kind"), Page: 1,
	}
	q.Search = q.Search[:min(len(q.Search), maxSearch)]
	if n, err := strconv.Atoi(v.Get("page")); err == nil && n > 1 {
		q.Page = n
	}
	return q
}

// Values returns the values of the address for the query.
func (q Query) Values() url.Values {
	v := url.Values{}
	for key, value := range map[string]string{"q": q.Search, "level": string(q.Level), "state": q.State, "namespace": q.Namespace,
		"cluster": q.Cluster, "cloud": q.Cloud, "kind": q.Kind} {
		if value != "" {
			v.Set(key, value)
		}
	}
	if q.Page > 1 {
		v.Set("page", strconv.Itoa(q.Page))
	}
	return v
}

// String returns the query as an address holds it, with the question mark; empty for one that selects all.
func (q Query) String() string {
	if text := q.Values().Encode(); text != "" {
		return "?" + text
	}
	return ""
}

// Filtered reports whether the query selects less than all pools.
func (q Query) Filtered() bool {
	q.Page = 0
	return q != Query{}
}

// WithState returns the query for another state, from its first page.
func (q Query) WithState(state string) Query {
	q.State, q.Level, q.Page = state, "", 1
	return q
}

// WithCount returns the query for the pools of one count, from its first page.
func (q Query) WithCount(c Count) Query {
	q.State, q.Level, q.Page = c.State, "", 1
	if c.State == "" {
		q.Level = c.Level
	}
	return q
}

// WithPage returns the query for another page.
func (q Query) WithPage(n int) Query {
	q.Page = n
	return q
}

// words returns the words of the search in lower case.
func (q Query) words() []string { return strings.Fields(strings.ToLower(q.Search)) }

// matches reports whether the query selects a line with a text. words are those of its search.
func (q Query) matches(l Line, text string, words []string) bool {
	for _, pair := range [...][2]string{{q.Namespace, l.Namespace}, {q.Cluster, l.Cluster}, {q.Cloud, l.Cloud},
		{q.Kind, l.Infrastructure.Kind}} {
		if pair[0] != "" && pair[0] != pair[1] {
			return false
		}
	}
	for _, word := range words {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}
