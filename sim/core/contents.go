package core

import "github.com/muster-project/muster/sim"

// Contents is a table of large values that many rows share. Each value is stored once, under a key that is its hash.
type Contents[T any] struct{ *Table[kept[T]] }

type kept[T any] struct{ Value T }

// NewContents returns an empty table, whose documents have the prefix in a store.
func NewContents[T any](prefix string) Contents[T] { return Contents[T]{NewTable[kept[T]](prefix)} }

// Keep stores a value by its text unless it is stored already, and returns its key. An empty text has an empty key and is not stored.
func (c Contents[T]) Keep(text string, value T) string {
	if text == "" {
		return ""
	}
	key := sim.Seed(0).Hex(32, text)
	if c.Get(key) == nil {
		c.Put(key, &kept[T]{value})
	}
	return key
}

// Kept returns the value of a key, the zero value if there is none.
func (c Contents[T]) Kept(key string) (value T) {
	if row := c.Get(key); row != nil {
		value = row.Value
	}
	return value
}

// Sweep deletes the values whose keys are not in use.
func (c Contents[T]) Sweep(used map[string]bool) {
	for key := range c.All() {
		if !used[key] {
			c.Delete(key)
		}
	}
}
