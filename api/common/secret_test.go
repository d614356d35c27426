package common

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestSealedIsNotShown prints a text in every way that a log or an error may.
func TestSealedIsNotShown(t *testing.T) {
	t.Parallel()
	s := NewSecret("s3cret")
	holder := struct {
		Shown  Secret
		hidden Secret
	}{s, s}
	texts := []string{}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x", "%t"} {
		texts = append(texts, fmt.Sprintf(verb, s), fmt.Sprintf(verb, &s), fmt.Sprintf(verb, holder), fmt.Sprintf(verb, &holder),
			fmt.Sprintf(verb, holder.hidden))
	}
	encoded, err := json.Marshal(holder)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range append(texts, string(encoded)) {
		for _, secret := range []string{"s3cret", fmt.Sprintf("%x", "s3cret")} {
			if strings.Contains(text, secret) {
				t.Errorf("want no secret in what is printed, found %s in %s", secret, text)
			}
		}
	}
	if got := s.Expose(); got != "s3cret" {
		t.Errorf("want the text where it is asked for, got %s", got)
	}
}

// TestSealedIsComparedByContent holds that a rotated secret is another one.
func TestSealedIsComparedByContent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason string
		a, b   Secret
		equal  bool
	}{
		{"the same text sealed twice", NewSecret("a"), NewSecret("a"), true},
		{"another text", NewSecret("a"), NewSecret("b"), false},
		{"nothing is nothing", NewSecret(""), Secret{}, true},
		{"nothing is not something", Secret{}, NewSecret("a"), false},
	} {
		if c.a.Equal(c.b) != c.equal || (c.a.Hash() == c.b.Hash()) != c.equal {
			t.Errorf("%s: want equal %v, got %v, hashes %s and %s", c.reason, c.equal, c.a.Equal(c.b), c.a.Hash(), c.b.Hash())
		}
	}
	if !(Secret{}).Empty() || !NewSecret("").Empty() || NewSecret("a").Empty() {
		t.Error("want nothing alone to be empty")
	}
}
