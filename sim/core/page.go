package core

import (
	"encoding/base64"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// ErrToken is returned for a token that names no position in a list.
var ErrToken = errors.New("the token of a page is not valid")

// List is a list that is returned in pages.
type List[T any] struct {
	Items []T
	// Key returns the name of an item in the list; empty for one without a name.
	Key func(T) string
	// Sorted is true if the items are in the order of their keys. Tokens then name the last key that was returned. Otherwise they name the
	// last items that were returned, and their number.
	Sorted bool
	// Reversed returns the list in reverse order.
	Reversed bool
}

// Page returns the page of a list that starts at a token, and the token of the next page. The token of the first page is empty, and so is
// the one returned with the last page. A size of zero returns all items. Items that are added or removed between two pages, or between two
// reads of different age, neither repeat nor hide other items. The error is ErrToken.
func Page[T any](l List[T], token string, size int) (page []T, next string, err error) {
	if l.Reversed {
		l.Items = slices.Clone(l.Items)
		slices.Reverse(l.Items)
	}
	resume, name := l.afterMarks, l.marks
	if l.Sorted {
		resume, name = l.afterKey, l.lastKey
	}
	from, to := 0, len(l.Items)
	if token != "" {
		if from, err = resume(token); err != nil {
			return nil, "", err
		}
	}
	if size > 0 {
		to = min(to, from+size)
	}
	if to < len(l.Items) {
		next = name(token, from, to)
	}
	return l.Items[from:to], next, nil
}

// afterKey returns the place of the first item behind the key that a token names.
func (l List[T]) afterKey(token string) (int, error) {
	last, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return 0, ErrToken
	}
	return sort.Search(len(l.Items), func(i int) bool {
		key := l.Key(l.Items[i])
		if !l.Reversed {
			return key > string(last)
		}
		return key < string(last)
	}), nil
}

// lastKey returns the token behind a page of a sorted list.
func (l List[T]) lastKey(_ string, _, to int) string {
	return base64.RawURLEncoding.EncodeToString([]byte(l.Key(l.Items[to-1])))
}

const (
	// maxMarks is the maximum number of items that a token names, which bounds its length.
	maxMarks = 100
	// markLength is the number of characters per item in a token.
	markLength = 8
)

// afterMarks returns the place behind the last item that a token names and that is still there. Where all of them are gone, it is the place
// in the token less their number. Items without a key are not named.
func (l List[T]) afterMarks(token string) (int, error) {
	text, returned, _ := strings.Cut(token, ",")
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > len(l.Items)+maxMarks {
		return 0, ErrToken
	}
	marks := parseMarks(returned)
	for k := len(l.Items) - 1; k >= 0; k-- {
		if slices.Contains(marks, l.mark(l.Items[k])) {
			return k + 1, nil
		}
	}
	return min(max(0, n-len(marks)), len(l.Items)), nil
}

// marks returns the token behind a page, which names the items of the pages before as well.
func (l List[T]) marks(token string, from, to int) string {
	_, returned, _ := strings.Cut(token, ",")
	marks := parseMarks(returned)
	for _, item := range l.Items[from:to] {
		if mark := l.mark(item); mark != "" {
			marks = append(marks, mark)
		}
	}
	return strconv.Itoa(to) + "," + strings.Join(marks[max(0, len(marks)-maxMarks):], "")
}

// parseMarks returns the marks that a token holds one after the other.
func parseMarks(text string) []string {
	var out []string
	for ; len(text) >= markLength; text = text[markLength:] {
		out = append(out, text[:markLength])
	}
	return out
}

// mark returns what stands for an item in a token, "" for one without a key.
func (l List[T]) mark(item T) string {
	key := l.Key(item)
	if key == "" {
		return ""
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(key))
	return fmt.Sprintf("%08x", h.Sum32())
}
