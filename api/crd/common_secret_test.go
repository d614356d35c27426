package crd_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/muster-project/muster/api/common"
)

// TestSecretIsNotShown prints a text in every way that a log or an error may.
func TestSecretIsNotShown(t *testing.T) {
	t.Parallel()
	s := common.NewSecret("s3cret")
	holder := struct {
		Shown  common.Secret
		hidden common.Secret
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

// TestSecretIsComparedByContent holds that a rotated secret is another one.
func TestSecretIsComparedByContent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason string
		a, b   common.Secret
		equal  bool
	}{
		{"the same text sealed twice", common.NewSecret("a"), common.NewSecret("a"), true},
		{"another text", common.NewSecret("a"), common.NewSecret("b"), false},
		{"nothing is nothing", common.NewSecret(""), common.Secret{}, true},
		{"nothing is not something", common.Secret{}, common.NewSecret("a"), false},
	} {
		if c.a.Equal(c.b) != c.equal || (c.a.Hash() == c.b.Hash()) != c.equal {
			t.Errorf("%s: want equal %v, got %v, hashes %s and %s", c.reason, c.equal, c.a.Equal(c.b), c.a.Hash(), c.b.Hash())
		}
	}
	if !(common.Secret{}).Empty() || !common.NewSecret("").Empty() || common.NewSecret("a").Empty() {
		t.Error("want nothing alone to be empty")
	}
}
