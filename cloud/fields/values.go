package fields

import "slices"

// Text returns a text as the value of a field; nil for the empty one, which names nothing.
func Text(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// Number returns a number as the value of a field; nil for zero, which names nothing.
func Number(n int64) any {
	if n == 0 {
		return nil
	}
	return n
}

// Truth returns a switch as the value of a field; nil for one that is off.
func Truth(b bool) any {
	if !b {
		return nil
	}
	return true
}

// Set returns a list whose order means nothing as the value of a field; nil for an empty one.
func Set(items []string) any {
	if len(items) == 0 {
		return nil
	}
	return slices.Sorted(slices.Values(items))
}
