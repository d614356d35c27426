package core

import (
	"maps"
	"sync"
	"time"
)

// Rate is a token bucket's size and how many tokens come back each second.
type Rate struct {
	Size   float64 `json:"size"`
	Refill float64 `json:"refill"`
}

// Buckets are token buckets by name, each made full at its first use.
type Buckets struct {
	mu   sync.Mutex
	held map[string]*bucket
}

type bucket struct {
	tokens float64
	at     time.Time
}

// Take takes n tokens from the bucket of that name and reports whether there were as many. A rate of size zero never refuses.
func (b *Buckets) Take(name string, r Rate, n float64, now time.Time) bool {
	if r.Size <= 0 {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.held == nil {
		b.held = map[string]*bucket{}
	}
	k, ok := b.held[name]
	if !ok {
		k = &bucket{tokens: r.Size, at: now}
		b.held[name] = k
	}
	k.tokens = min(r.Size, k.tokens+r.Refill*now.Sub(k.at).Seconds())
	k.at = now
	if k.tokens < n {
		return false
	}
	k.tokens -= n
	return true
}

// Left returns the tokens in the named bucket, without taking any. A bucket that was never used is full.
func (b *Buckets) Left(name string, r Rate, now time.Time) float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	k, ok := b.held[name]
	if !ok {
		return r.Size
	}
	return min(r.Size, k.tokens+r.Refill*max(0, now.Sub(k.at).Seconds()))
}

// Limits are limits by name, which can change while requests come.
type Limits[T any] struct {
	mu   sync.Mutex
	held map[string]T
}

// NewLimits returns limits that are these at first.
func NewLimits[T any](first map[string]T) *Limits[T] {
	held := make(map[string]T, len(first))
	maps.Copy(held, first)
	return &Limits[T]{held: held}
}

// SetLimit changes one limit; one of size zero takes the limit away.
func (l *Limits[T]) SetLimit(name string, limit T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held[name] = limit
}

// Limit returns the limit of a name, and whether there is one.
func (l *Limits[T]) Limit(name string) (T, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	limit, ok := l.held[name]
	return limit, ok
}
