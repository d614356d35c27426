package core

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
)

// Table holds rows of one kind, in the order of their keys, and remembers which have changed since they were last committed.
// It is not safe for use by several goroutines: a simulated cloud guards all its tables with one lock.
type Table[T any] struct {
	prefix string
	rows   map[string]*T
	keys   []string
	dirty  map[string]bool
}

// NewTable makes an empty table whose documents have the prefix in a store.
func NewTable[T any](prefix string) *Table[T] {
	return &Table[T]{prefix: prefix, rows: map[string]*T{}, dirty: map[string]bool{}}
}

// Load takes the table's rows out of a store's documents.
func (t *Table[T]) Load(docs map[string]json.RawMessage) error {
	return rangeDocs(docs, t.prefix, func(k string, doc json.RawMessage) error {
		row := new(T)
		if err := json.Unmarshal(doc, row); err != nil {
			return fmt.Errorf("the state of %s cannot be read: %w", k, err)
		}
		t.insert(strings.TrimPrefix(k, t.prefix), row)
		return nil
	})
}

// Flush adds the changed rows to a commit and forgets that they have changed.
func (t *Table[T]) Flush(changes map[string]json.RawMessage) error {
	for k := range t.dirty {
		row, ok := t.rows[k]
		if !ok {
			changes[t.prefix+k] = nil
			continue
		}
		doc, err := json.Marshal(row)
		if err != nil {
			return fmt.Errorf("the state of %s%s cannot be written: %w", t.prefix, k, err)
		}
		changes[t.prefix+k] = doc
	}
	clear(t.dirty)
	return nil
}

// Get is the row of that key, or nil. Who changes it must call Touch.
func (t *Table[T]) Get(key string) *T { return t.rows[key] }

// Touch notes that the row has changed.
func (t *Table[T]) Touch(key string) { t.dirty[key] = true }

// Put adds or replaces a row.
func (t *Table[T]) Put(key string, row *T) {
	t.insert(key, row)
	t.Touch(key)
}

func (t *Table[T]) insert(key string, row *T) {
	if at, found := slices.BinarySearch(t.keys, key); !found {
		t.keys = slices.Insert(t.keys, at, key)
	}
	t.rows[key] = row
}

// Delete removes a row; an unknown key is no error.
func (t *Table[T]) Delete(key string) {
	at, found := slices.BinarySearch(t.keys, key)
	if !found {
		return
	}
	t.keys = slices.Delete(t.keys, at, at+1)
	delete(t.rows, key)
	t.Touch(key)
}

// Len returns the number of rows.
func (t *Table[T]) Len() int { return len(t.keys) }

// All iterates over the rows in the order of their keys, as of the start of the loop: rows may be added and removed meanwhile.
func (t *Table[T]) All() iter.Seq2[string, *T] { return t.Under("") }

// List returns the rows whose keys have the prefix, in the order of their keys.
func (t *Table[T]) List(prefix string) []*T {
	var out []*T
	for _, row := range t.Under(prefix) {
		out = append(out, row)
	}
	return out
}

// Under iterates over the rows whose keys have the prefix.
func (t *Table[T]) Under(prefix string) iter.Seq2[string, *T] {
	return func(yield func(string, *T) bool) {
		from, _ := slices.BinarySearch(t.keys, prefix)
		to := from
		for to < len(t.keys) && strings.HasPrefix(t.keys[to], prefix) {
			to++
		}
		for _, k := range slices.Clone(t.keys[from:to]) {
			if row, ok := t.rows[k]; ok && !yield(k, row) {
				return
			}
		}
	}
}
