package session

import (
	"fmt"
	"testing"
)

func TestMarks(t *testing.T) {
	var names []string
	for i := range 60 {
		names = append(names, fmt.Sprintf("name-%02d", i))
	}
	text := Marks(names)
	if len(text) > 256 {
		t.Fatalf("want marks to fit into a tag's 256 characters, got %d", len(text))
	}
	for i, name := range names {
		if got, want := Marked(text, name), i < markRoom; got != want {
			t.Errorf("name %d: want marked %t, got %t", i, want, got)
		}
	}
	if Marked(text, "other") || Marked("", "name-00") {
		t.Error("want what was not marked not to be found")
	}
	if Marks([]string{"b", "a"}) != Marks([]string{"a", "b"}) {
		t.Error("want the same marks in whatever order")
	}
	if Marks(nil) != "" {
		t.Error("want no mark for nothing")
	}
}
