package nodes_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	upstream "sigs.k8s.io/cluster-api/bootstrap/kubeadm/pkg/cloudinit"

	"github.com/muster-project/muster/sim/nodes/cloudinit"
)

// inArchive is the data as the only, encoded part of a MIME archive.
func inArchive(data []byte) []byte {
	return []byte("MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=B\n\n--B\nContent-Type: " +
		"text/plain\nContent-Transfer-Encoding: base64\n\n" +
		b64(data) + "\n--B--\n")
}

// wrapped reports whether the data is itself compressed or an archive: what is wrapped twice means something else.
func wrapped(data string) bool {
	head := strings.ToLower(strings.TrimLeft(data, " \t\r\n"))
	return strings.HasPrefix(data, "\x1f\x8b") || strings.HasPrefix(head, "mime-version:") || strings.HasPrefix(head, "content-type:")
}

// FuzzCloudInitParse holds that user data is either carried out or refused, is read alike every time, and means the same compressed
// and in an archive.
func FuzzCloudInitParse(f *testing.F) {
	node, err := upstream.NewNode(&upstream.NodeInput{JoinConfiguration: "kind: JoinConfiguration\nnodeRegistration:\n  name: '{{ " +
		"ds.meta_data.local_hostname }}'\n"})
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{
		string(node), "#cloud-config\nruncmd: [a]\n", "## template: jinja\n#cloud-config\nwrite_files:\n- path: '{{ v1.region }}'\n",
		string(zipped(f, "#cloud-config\n")),
		string(inArchive([]byte("#cloud-config\nruncmd: [a]\n"))), "## template: jinja\n{% raw %}{{{% endraw %}", "#cloud-config\na: &a [*a]\n",
		fmt.Sprintf("#cloud-config\nwrite_files: [{path: /a, encoding: gz+b64, content: %s}]", b64(zipped(f, "x"))), "#!/bin/sh\nkubeadm join\n",
		"\n #cloud-config\nbootcmd: [[echo, 'a b', 3]]\n", "MIME-Version: 1.0\nContent-Type: multipart/mixed\n\n",
		"{\"ignition\":{\"version\":\"3.4.0\"}}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		a, errA := cloudinit.Parse(data, facts.Metadata(), nil)
		if (errA == nil) != (a != nil) {
			t.Fatalf("want a configuration or an error, got %v and %v", a, errA)
		}
		readings := map[string][]byte{"again": slices.Clone(data)}
		if !wrapped(string(data)) {
			readings["compressed"] = zipped(t, string(data))
			readings["in an archive"] = inArchive(data)
			readings["compressed in an archive"] = inArchive(zipped(t, string(data)))
		}
		for how, other := range readings {
			b, errB := cloudinit.Parse(other, facts.Metadata(), nil)
			if diff := cmp.Diff(a, b); diff != "" || (errA == nil) != (errB == nil) {
				t.Fatalf("want the same %s, got %s, %v, %v", how, diff, errA, errB)
			}
		}
	})
}

// FuzzRendered holds that what the bootstrap provider renders is read back exactly: every byte of a file, every command.
func FuzzRendered(f *testing.F) {
	f.Add("/etc/kubernetes/azure.json", []byte("{\"a\": 1}"), "hostname \"{}\" && echo 'x'", "echo after\n", uint8(0))
	f.Add("/etc/x", []byte{0, 0xff, '\n'}, "echo \\ $(date) \u00e9 \t", "", uint8(1))
	f.Add("/etc/y", []byte("- a\n  b: |\n"), "true", "#", uint8(2))
	f.Fuzz(func(t *testing.T, path string, content []byte, before, after string, shape uint8) {
		// The provider puts paths into its document as they are: the API holds them to plain ones. Braces are jinja's.
		if path == "" || strings.ContainsFunc(path, func(r rune) bool {
			return r <= ' ' || r > '~' ||
				strings.ContainsRune("{}[]&*#?|-<>=!%@`:,'\"\\", r)
		}) {
			return
		}
		for _, text := range []string{before, after} {
			if !utf8.ValidString(text) || strings.ContainsAny(text, "{}") {
				return
			}
		}
		file := bootstrapv1.File{Path: "/" + path, Content: b64(content), Encoding: bootstrapv1.Base64, Permissions: "0600"}
		if shape%2 == 1 {
			file.Content, file.Encoding = b64(zipped(t, string(content))), bootstrapv1.GzipBase64
		}
		in := &upstream.NodeInput{JoinConfiguration: "kind: JoinConfiguration\n"}
		in.AdditionalFiles = []bootstrapv1.File{file}
		in.PreKubeadmCommands, in.PostKubeadmCommands = []string{before}, []string{after}
		data, err := upstream.NewNode(in)
		if err != nil {
			t.Fatal(err)
		}
		c, err := cloudinit.Parse(data, facts.Metadata(), nil)
		if err != nil {
			t.Fatalf("%v in\n%s", err, data)
		}
		if len(c.Files) == 0 || c.Files[0].Path != file.Path || string(c.Files[0].Content) != string(content) {
			t.Errorf("want %q with %q, got %+v", file.Path, content, c.Files)
		}
		if len(c.Commands) != 3 || c.Commands[0] != before || c.Commands[2] != after {
			t.Errorf("want %q, kubeadm and %q, got %q", before, after, c.Commands)
		}
	})
}
