package shapes

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"time"
)

// Itoa spells a number of any integer type.
func Itoa[N ~int | ~int32 | ~int64](n N) string { return strconv.FormatInt(int64(n), 10) }

// Atoi is a number that was read before, 0 for anything else.
func Atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}

// Str is the value of an optional string, "" when absent.
func Str(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}

// Val is the value of an optional field, the zero value when absent.
func Val[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

// Opt returns nil for an empty string.
func Opt(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Stamp is a time as the services write it, or nil for none.
func Stamp(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return new(t.UTC().Truncate(time.Millisecond))
}

// Reshape turns one shape into another of the same field names: what was asked for into what is shown.
func Reshape(from, to any) error {
	b, err := json.Marshal(from)
	if err != nil {
		return fmt.Errorf("reshape %T: %w", from, err)
	}
	if err := json.Unmarshal(b, to); err != nil {
		return fmt.Errorf("reshape %T into %T: %w", from, to, err)
	}
	return nil
}

// Overlay sets every field of the struct dst for which src, a struct with fields of the same names, has a value. An empty list
// that is not nil is a value: clients send it to clear one.
func Overlay(dst, src any) {
	to, from := reflect.ValueOf(dst).Elem(), reflect.ValueOf(src).Elem()
	for i := range from.NumField() {
		field := to.FieldByName(from.Type().Field(i).Name)
		if field.IsValid() && field.Type() == from.Field(i).Type() && !from.Field(i).IsZero() {
			field.Set(from.Field(i))
		}
	}
}
