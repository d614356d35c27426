package infrapool

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/sim/nodes/cloudinit"
)

// FuzzBootstrapOf holds that a secret gives either its data, whole and in the format that it says, or a cause that does not show
// it; and that what cloud-init would act upon is neither refused nor taken for anything else.
func FuzzBootstrapOf(f *testing.F) {
	for _, data := range []string{
		"## template: jinja\n#cloud-config\n\nwrite_files:\n-   path: /run/kubeadm/kubeadm-join-config.yaml\n", "#cloud-config\n", "\n#cloud-config\nruncmd: [a]\n", "##template: jinja\n#cloud-config\nruncmd: [a]\n", "  #!/bin/sh\n",
		"mime-version: 1.0\nContent-Type: multipart/mixed; boundary=B\n\n--B\n\n#cloud-config\n--B--\n", "\x1f\x8b\x08", "<powershell>x</powershell>",
		"{\"ignition\":{\"version\":\"3.4.0\"},\"storage\":{}}", "{\"ignition\":{\"version\":2}}", "[]", "", "#upstart-job\n", "#cloud-config-jsonp\n[]",
	} {
		for _, format := range []string{"", "cloud-config", "ignition", "toml"} {
			f.Add([]byte(data), format)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, format string) {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "data"}, Data: map[string][]byte{dataKey: data, formatKey: []byte(format)}}
		got, cause := bootstrapOf(secret)
		if (cause == nil) == got.Empty() {
			t.Fatalf("want data or a cause, got %v and %+v", got, cause)
		}
		if cause == nil {
			guessed := format == "" && (got.Format() == formatCloudConfig || got.Format() == formatRaw)
			if string(got.Data()) != string(data) || !guessed && got.Format() != format {
				t.Errorf("want the data as %q, got %v of format %q", format, got, got.Format())
			}
			if c, err := cloudinit.Parse(data, cloudinit.Metadata{}, nil); got.Format() == formatRaw && guessed && err == nil && len(c.Files)+len(c.Commands) > 0 {
				t.Errorf("want what cloud-init acts upon taken as such, got %q", got.Format())
			}
			return
		}
		// Ours are words of our own: longer data can't stand in them by chance.
		if text := string(data); len(text) > 24 && !strings.Contains(format, text) && strings.Contains(cause.Message, text) {
			t.Errorf("want no data in a cause, got %s", cause.Message)
		}
		if format != "" && format != formatCloudConfig {
			return
		}
		if c, err := cloudinit.Parse(data, cloudinit.Metadata{}, nil); err == nil && len(c.Files)+len(c.Commands) > 0 {
			t.Errorf("want what a machine acts upon taken, got %s", cause.Message)
		}
	})
}

// FuzzResolved holds that what an object remembers is either refused by name or kept, that what is found is added to it, and
// that writing it twice changes nothing.
func FuzzResolved(f *testing.F) {
	for _, text := range []string{"", "{}", "null", `{"region":"eu-west-1"}`, `{"image-0f6f8d5e0f6f":"ami-1 x86_64 /dev/sda1 8","a":null}`, "[]", `{"a":1}`, `{"a":"b","a":"c"}`, "{", `{"a":"\ud800"}`} {
		f.Add(text, "region", "eu-west-1")
	}
	f.Fuzz(func(t *testing.T, text, key, value string) {
		if !utf8.ValidString(key) || !utf8.ValidString(value) {
			return
		}
		o := &awsv1.AWSMachinePool{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{ResolvedAnnotation: text, "other": "kept"}}}
		before, err := resolved(o)
		errResolve := resolve(o, map[string]string{key: value})
		if (err == nil) != (errResolve == nil) {
			t.Fatalf("want one answer, got %v and %v", err, errResolve)
		}
		if err != nil {
			if !strings.Contains(err.Error(), ResolvedAnnotation) || o.Annotations[ResolvedAnnotation] != text {
				t.Errorf("want an error that names the annotation, which stays, got %v, %v", err, o.Annotations)
			}
			return
		}
		after, err := resolved(o)
		if err != nil || after[key] != value || o.Annotations["other"] != "kept" {
			t.Fatalf("want %q remembered as %q, got %v, %v", key, value, o.Annotations, err)
		}
		if want := maps.Clone(before); len(before) < resolvedLimit {
			delete(want, key)
			rest := maps.Clone(after)
			delete(rest, key)
			if !maps.Equal(want, rest) {
				t.Errorf("want the rest kept, %v, got %v", want, rest)
			}
		}
		once := o.Annotations[ResolvedAnnotation]
		if err := resolve(o, map[string]string{key: value}); err != nil || o.Annotations[ResolvedAnnotation] != once || !json.Valid([]byte(once)) {
			t.Errorf("want nothing new to write, got %v after %s, %v", o.Annotations, once, err)
		}
	})
}

// FuzzOwner holds that of two objects that carry one owner ID exactly one comes first, whatever the ID is, and that it is the
// one whose ID it is if there is such a one.
func FuzzOwner(f *testing.F) {
	f.Add("uid-1", "uid-1", "uid-2", int64(10), int64(5))
	f.Add("other", "uid-1", "uid-2", int64(5), int64(5))
	f.Add("", "a", "b", int64(0), int64(0))
	f.Fuzz(func(t *testing.T, id, uidA, uidB string, atA, atB int64) {
		if uidA == uidB {
			return
		}
		object := func(uid string, at int64) client.Object {
			return &awsv1.AWSMachinePool{ObjectMeta: metav1.ObjectMeta{UID: types.UID(uid), CreationTimestamp: metav1.Unix(at, 0), Annotations: map[string]string{OwnerIDAnnotation: id}}}
		}
		a, b := object(uidA, atA), object(uidB, atB)
		if older(a, b) == older(b, a) {
			t.Errorf("want one of %q and %q first, got %t twice", uidA, uidB, older(a, b))
		}
		if id == uidA && !older(a, b) || id == uidB && !older(b, a) {
			t.Errorf("want the object whose ID %q it is first", id)
		}
	})
}
