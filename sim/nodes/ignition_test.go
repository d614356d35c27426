package nodes_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/muster-project/muster/sim/nodes/ignition"
)

const service = `{"ignition":{"version":"2.3.0"},"systemd":{"units":[{"name":"kubeadm.service","enabled":true,"contents":"[Service]\nExecStart=/bin/bash /etc/kubeadm.sh\n"},{"name":"off.service","enabled":false,"contents":"ExecStart=/bin/no"}]},"storage":{"files":[{"path":"/etc/a","contents":{"source":"data:,one%20two"}}]}}`

func TestParse(t *testing.T) {
	t.Parallel()
	want := &ignition.Config{Files: []ignition.File{{Path: "/etc/a", Content: []byte("one two")}},
		Commands: []string{"/bin/bash /etc/kubeadm.sh"}}
	pointer := func(version, how, source string) string {
		return fmt.Sprintf(`{"ignition":{"version":%q,"config":{%q:[{"source":%q}]}}}`, version, how, source)
	}
	inline := "data:;base64," + base64.StdEncoding.EncodeToString([]byte(service))
	for _, tc := range []struct {
		reason, data string
		want         *ignition.Config
		err          string
	}{
		{reason: "a whole configuration", data: service, want: want},
		{reason: "version 2 appends", data: pointer("2.3.0", "append", "s3://bucket/key"), want: want},
		{reason: "version 3 merges", data: pointer("3.4.0", "merge", "s3://bucket/key"), want: want},
		{reason: "a signed URL", data: pointer("3.4.0", "merge", "https://h/key?X-Amz-Signature=s3cr3t"), want: want},
		{reason: "another takes its place", data: `{"ignition":{"version":"3.0.0","config":{"replace":{"source":"` + inline +
			`"}}},"storage":{"files":[{"path":"/x"}]}}`, want: want},
		{reason: "an object that is not there", data: pointer("3.4.0", "merge", "s3://bucket/gone"), err: "failed to fetch config: NoSuchKey"},
		{reason: "a hash that is another's", data: `{"ignition":{"version":"3.0.0"},"storage":{"files":[{"path":"/x","contents":{"source":"data:,s3cr3t","verification":{"hash":"sha512-00"}}}]}}`, err: `file "/x": hash verification failed`},
		{reason: "gzip that is none", data: `{"ignition":{"version":"3.0.0"},"storage":{"files":[{"path":"/x","contents":{"source":"data:,s3cr3t","compression":"gzip"}}]}}`, err: "want gzip"},
		{reason: "a circle", data: pointer("3.4.0", "merge", "s3://bucket/circle"), err: "more than 4 deep"},
		{reason: "a version of the future", data: `{"ignition":{"version":"4.0.0"}}`, err: "unknown version"},
		{reason: "no configuration", data: `{"secret":"s3cr3t"}`, err: "no Ignition configuration"},
	} {
		got, err := ignition.Parse([]byte(tc.data), func(source string) ([]byte, error) {
			switch {
			case strings.HasSuffix(source, "gone"):
				return nil, errors.New("NoSuchKey")
			case strings.HasSuffix(source, "circle"):
				return []byte(pointer("3.4.0", "merge", "s3://bucket/circle")), nil
			default:
				return []byte(service), nil
			}
		})
		if tc.err != "" {
			if err == nil || !strings.Contains(err.Error(), tc.err) || strings.Contains(err.Error(), "s3cr3t") {
				t.Errorf("%s: want an error with %q and no secret, got %v", tc.reason, tc.err, err)
			}
			continue
		}
		if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", tc.reason, err, diff)
		}
	}
	if _, err := ignition.Parse([]byte(pointer("3.4.0", "merge", "https://h/key?X-Amz-Signature=s3cr3t")), nil); err == nil ||
		strings.Contains(err.Error(), "s3cr3t") {
		t.Errorf("a machine that can fetch nothing: want an error without the signature, got %v", err)
	}
}

func TestIs(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]bool{service: true, " " + service: true, "#cloud-config\n": false, `{"a":1}`: false, "": false} {
		if got := ignition.Is([]byte(data)); got != want {
			t.Errorf("%.20q: want %v, got %v", data, want, got)
		}
	}
}

func FuzzIgnitionParse(f *testing.F) {
	f.Add([]byte(service))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := ignition.Parse(data, func(string) ([]byte, error) { return []byte(service), nil })
		if (c == nil) == (err == nil) {
			t.Fatalf("want either, got %v and %v", c, err)
		}
	})
}
