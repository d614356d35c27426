package world

import (
	"maps"
	"slices"
	"time"
)

// good says that a token was made and has not expired.
func (l *workload) good(token string) bool {
	expires, made := l.expiry[token]
	return made && (expires.IsZero() || time.Now().Before(expires))
}

// rotate makes a new token. The one before it stays good for a while.
func (l *workload) rotate(n int) string {
	for token, at := range l.expiry {
		if at.IsZero() && token != l.lasting {
			l.expiry[token] = time.Now().Add(tokenStays)
		}
	}
	return l.make(n)
}

func (l *workload) make(n int) string {
	token := l.seed.Hex(6, "token", n) + "." + l.seed.Hex(16, "secret", n)
	l.expiry[token] = time.Time{}
	return token
}

// last makes a token that is good for ever, once.
func (l *workload) last() string {
	if l.lasting == "" {
		l.lasting = l.make(-1)
	}
	return l.lasting
}

// tokens are all that were ever made.
func (l *workload) tokens() []string { return slices.Sorted(maps.Keys(l.expiry)) }
