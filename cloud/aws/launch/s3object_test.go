package launch

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
)

// shown is user data as EC2 shows it.
func shown(text string) *string { return new(base64.StdEncoding.EncodeToString([]byte(text))) }

func TestPointerOf(t *testing.T) {
	signed := "?X-Amz-Date=20300102T030400Z&X-Amz-Expires=3600&X-Amz-Signature=s"
	at := object{"b", "machine-pool/o/0123456789ab"}
	ends := time.Date(2030, 1, 2, 4, 4, 0, 0, time.UTC)
	for _, c := range []struct {
		reason, text string
		want         object
		until        time.Time
	}{
		{"an include, the bucket in the path", "#include\nhttps://s3.eu-west-1.amazonaws.com/b/machine-pool/o/0123456789ab" + signed + "\n",
			at, ends},
		{"an include, the bucket in the host", "#include\nhttps://b.s3.eu-west-1.amazonaws.com/machine-pool/o/0123456789ab" + signed + "\n",
			at, ends},
		{"Ignition of version 2", `{"ignition":{"version":"2.3.0","config":{"append":[{"source":"s3://b/machine-pool/o/0123456789ab"}]}}}`, at,
			time.Time{}},
		{"Ignition of version 3", `{"ignition":{"version":"3.4.0","config":{"merge":[{"source":"s3://b/machine-pool/o/0123456789ab"}]}}}`, at,
			time.Time{}},
		{"the data itself", "#cloud-config\n", object{}, time.Time{}},
		{"an include of something else", "#include\nhttps://example.com/x\n", object{}, time.Time{}},
		{"Ignition that points elsewhere", `{"ignition":{"config":{"merge":[{"source":"https://example.com"}]}}}`, object{}, time.Time{}},
		{"what is no text", "\x1f\x8b\x00", object{}, time.Time{}},
	} {
		got := pointerOf(shown(c.text))
		if c.want == (object{}) {
			if got != nil {
				t.Errorf("%s: want no object, got %+v", c.reason, got)
			}
			continue
		}
		if got == nil || got.to != c.want || !got.until.Equal(c.until) {
			t.Errorf("%s: want %+v until %v, got %+v", c.reason, c.want, c.until, got)
		}
	}
	half := pointerOf(shown("#include\nhttps://h/b/machine-pool/o/1" + signed))
	if half.ends(ends.Add(-31*time.Minute)) || !half.ends(ends.Add(-29*time.Minute)) {
		t.Error("want an address to be replaced once half of its time is over")
	}
}

func TestKeysNeverMeet(t *testing.T) {
	source := func(owner, data string) Source {
		return Source{
			Owner: cloud.Owner{ID: owner}, Bootstrap: cloud.NewBootstrap([]byte(data), "cloud-config"),
			Cluster: awsv1.ClusterView{Bucket: &awsv1.BucketView{Name: "b"}},
		}
	}
	seen := map[object]string{}
	for _, s := range []Source{source("a", "x"), source("b", "x"), source("a", "y"), source("a/b", "x"), source("a%2Fb", "x"),
		source("a ", "x")} {
		at := s.object()
		if other, ok := seen[at]; ok {
			t.Errorf("want owners %q and %q to have objects of their own, got %s", other, s.Owner.ID, at)
		}
		seen[at] = s.Owner.ID
		if again, ok := parseObject(at.String()); !ok || again != at {
			t.Errorf("want %s read again, got %+v", at, again)
		}
		if rest := strings.TrimPrefix(at.key, s.folder()); strings.Contains(rest, "/") {
			t.Errorf("want the object in its owner's folder %s, got %s", s.folder(), at)
		}
	}
}

// FuzzPointer holds that whatever user data a version shows, at most an object of the ecosystem's folder is read out of it.
func FuzzPointer(f *testing.F) {
	for _, text := range []string{
		"#include\nhttps://h/b/machine-pool/o/1?X-Amz-Date=20300102T030400Z&X-Amz-Expires=99999999999", "#include\n::", "{}",
		`{"ignition":{"config":{"append":[{}]}}}`,
		"#include\nhttps://h/machine-pool/machine-pool/..", "", "#include\ns3:///machine-pool/",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := pointerOf(shown(text))
		if got == nil {
			return
		}
		if !strings.HasPrefix(got.to.key, objectFolder) {
			t.Errorf("%q: want an object in %s, got %+v", text, objectFolder, got)
		}
		_ = got.ends(time.Now())
	})
}
