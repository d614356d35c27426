package infrapool_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/kube/infrapool/stored"
)

// maxStored bounds the number of values that an object keeps.
const maxStored = 64

func TestUpdate(t *testing.T) {
	t.Parallel()
	o := &awsv1.AWSMachinePool{}
	if err := stored.Update(o, map[string]string{"b": "2", "a": "1"}); err != nil {
		t.Fatal(err)
	}
	if got := o.Annotations[stored.Annotation]; got != `{"a":"1","b":"2"}` {
		t.Errorf("want a stable text, got %s", got)
	}
	for i := range maxStored + 10 {
		if err := stored.Update(o, map[string]string{"a": "1", fmt.Sprintf("image-%d", i): "ami"}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := stored.Values(o)
	if err != nil || len(got) > maxStored || got["a"] != "1" || got[fmt.Sprintf("image-%d", maxStored+9)] != "ami" {
		t.Errorf("want no more than %d look-ups, the latest among them; got %d, %v", maxStored, len(got), err)
	}
	o.Annotations[stored.Annotation] = "ami-1"
	if _, err := stored.Values(o); err == nil || !strings.Contains(err.Error(),
		"metadata.annotations[muster.dev/resolved]: want a JSON object of strings") {
		t.Errorf("want an error that names the next action, got %v", err)
	}
}

// FuzzUpdate holds that the values of an object are either refused by name or kept, that new ones are added to them, and that writing them
// twice changes nothing.
func FuzzUpdate(f *testing.F) {
	for _, text := range []string{"", "{}", "null", `{"region":"eu-west-1"}`, `{"image-0f6f8d5e0f6f":"ami-1 x86_64 /dev/sda1 8","a":null}`,
		"[]", `{"a":1}`, `{"a":"b","a":"c"}`, "{", `{"a":"\ud800"}`} {
		f.Add(text, "region", "eu-west-1")
	}
	f.Fuzz(func(t *testing.T, text, key, value string) {
		if !utf8.ValidString(key) || !utf8.ValidString(value) {
			return
		}
		o := &awsv1.AWSMachinePool{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{stored.Annotation: text, "other": "kept"}}}
		before, err := stored.Values(o)
		errUpdate := stored.Update(o, map[string]string{key: value})
		if (err == nil) != (errUpdate == nil) {
			t.Fatalf("want one answer, got %v and %v", err, errUpdate)
		}
		if err != nil {
			if !strings.Contains(err.Error(), stored.Annotation) || o.Annotations[stored.Annotation] != text {
				t.Errorf("want an error that names the annotation, which stays, got %v, %v", err, o.Annotations)
			}
			return
		}
		after, err := stored.Values(o)
		if err != nil || after[key] != value || o.Annotations["other"] != "kept" {
			t.Fatalf("want %q stored as %q, got %v, %v", key, value, o.Annotations, err)
		}
		if want := maps.Clone(before); len(before) < maxStored {
			delete(want, key)
			rest := maps.Clone(after)
			delete(rest, key)
			if !maps.Equal(want, rest) {
				t.Errorf("want the rest kept, %v, got %v", want, rest)
			}
		}
		once := o.Annotations[stored.Annotation]
		if err := stored.Update(o, map[string]string{key: value}); err != nil || o.Annotations[stored.Annotation] != once ||
			!json.Valid([]byte(once)) {
			t.Errorf("want nothing new to write, got %v after %s, %v", o.Annotations, once, err)
		}
	})
}
