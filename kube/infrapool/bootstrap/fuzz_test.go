package bootstrap

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/muster-project/muster/sim/nodes/cloudinit"
)

// FuzzBootstrapOf holds that a secret yields either its data, whole and in the format that it names, or a cause that does not show the
// data; and that what cloud-init would act upon is neither refused nor taken for anything else.
func FuzzBootstrapOf(f *testing.F) {
	for _, data := range []string{
		"## template: jinja\n#cloud-config\n\nwrite_files:\n-   path: /run/kubeadm/kubeadm-join-config.yaml\n", "#cloud-config\n",
		"\n#cloud-config\nruncmd: [a]\n", "##template: jinja\n#cloud-config\nruncmd: [a]\n", "  #!/bin/sh\n",
		"mime-version: 1.0\nContent-Type: multipart/mixed; boundary=B\n\n--B\n\n#cloud-config\n--B--\n", "\x1f\x8b\x08",
		"<powershell>x</powershell>",
		"{\"ignition\":{\"version\":\"3.4.0\"},\"storage\":{}}", "{\"ignition\":{\"version\":2}}", "[]", "", "#upstart-job\n",
		"#cloud-config-jsonp\n[]",
	} {
		for _, format := range []string{"", "cloud-config", "ignition", "toml"} {
			f.Add([]byte(data), format)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, format string) {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "data"},
			Data: map[string][]byte{dataKey: data, formatKey: []byte(format)}}
		got, cause := bootstrapOf(secret)
		if (cause == nil) == got.Empty() {
			t.Fatalf("want data or a cause, got %v and %+v", got, cause)
		}
		if cause == nil {
			guessed := format == "" && (got.Format() == formatCloudConfig || got.Format() == formatRaw)
			if string(got.Data()) != string(data) || !guessed && got.Format() != format {
				t.Errorf("want the data as %q, got %v of format %q", format, got, got.Format())
			}
			if c, err := cloudinit.Parse(data, cloudinit.Metadata{}, nil); got.Format() == formatRaw && guessed && err == nil &&
				len(c.Files)+len(c.Commands) > 0 {
				t.Errorf("want what cloud-init acts upon taken as such, got %q", got.Format())
			}
			return
		}
		// Messages have a text of their own, which does not contain longer data by chance.
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
