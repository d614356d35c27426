package nodes_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	upstream "sigs.k8s.io/cluster-api/bootstrap/kubeadm/pkg/cloudinit"

	"github.com/muster-project/muster/sim/nodes/cloudinit"
)

var facts = cloudinit.Instance{
	ID: "i-0abc", Type: "m5.large", Hostname: "ip-10-0-1-23.eu-west-1.compute.internal", Address: "10.0.1.23",
	Cloud: "aws", Region: "eu-west-1", Zone: "eu-west-1a", Arch: "x86_64",
}

func zipped(t testing.TB, s string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(s)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func b64(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

// TestBootstrapProvidersOutput takes what the bootstrap provider itself renders, with everything that it can put in.
func TestBootstrapProvidersOutput(t *testing.T) {
	t.Parallel()
	in := &upstream.NodeInput{JoinConfiguration: "apiVersion: kubeadm.k8s.io/v1beta3\nkind: JoinConfiguration\nnodeRegistration:\n  name: " +
		"'{{ ds.meta_data.local_hostname }}'\n"}
	in.BootCommands = []string{"echo boot"}
	in.PreKubeadmCommands = []string{`echo "$(date)" before`, "hostname"}
	in.PostKubeadmCommands = []string{"echo after"}
	in.AdditionalFiles = []bootstrapv1.File{
		{Path: "/etc/plain", Content: "a: 1\nb: {{ v1.region }}\n", Permissions: "0600", Owner: "root:adm"},
		{Path: "/etc/coded", Content: b64([]byte("coded")), Encoding: bootstrapv1.Base64},
		{Path: "/etc/zipped", Content: b64(zipped(t, "zipped")), Encoding: bootstrapv1.GzipBase64},
		{Path: "/etc/plain", Content: "more", Append: ptr.To(true)},
	}
	in.Users = []bootstrapv1.User{{Name: "ops", SSHAuthorizedKeys: []string{"ssh-ed25519 AAAA"}}}
	in.NTP = &bootstrapv1.NTP{Enabled: ptr.To(true), Servers: []string{"ntp.example.com"}}
	in.Mounts = []bootstrapv1.MountPoints{{"LABEL=data", "/data"}}
	data, err := upstream.NewNode(in)
	if err != nil {
		t.Fatal(err)
	}
	c, err := cloudinit.Parse(data, facts.Metadata(), nil)
	if err != nil {
		t.Fatal(err)
	}
	checkFiles(t, c.Files)
	wantCommands := []string{`echo "$(date)" before`, "hostname",
		"kubeadm join --config /run/kubeadm/kubeadm-join-config.yaml  && echo success > /run/cluster-api/bootstrap-success.complete",
		"echo after"}
	if diff := cmp.Diff(wantCommands, c.Commands); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"echo boot"}, c.BootCommands); diff != "" {
		t.Errorf("boot commands (-want +got):\n%s", diff)
	}
	if notes := strings.Join(c.Notes, "\n"); !strings.Contains(notes, "users") || !strings.Contains(notes, "ntp") ||
		!strings.Contains(notes, "mounts") {
		t.Errorf("notes: want users, ntp and mounts named, got:\n%s", notes)
	}
	if len(c.Warnings) != 0 {
		t.Errorf("warnings: want none, got %v", c.Warnings)
	}
}

func checkFiles(t *testing.T, all []cloudinit.File) {
	t.Helper()
	type file struct{ Path, Content, Permissions, Owner string }
	var files []file
	for _, f := range all {
		files = append(files, file{f.Path, strings.TrimSpace(string(f.Content)), f.Permissions, f.Owner})
	}
	want := []file{
		{"/etc/plain", "a: 1\nb: eu-west-1", "0600", "root:adm"},
		{"/etc/coded", "coded", "0644", "root:root"},
		{"/etc/zipped", "zipped", "0644", "root:root"},
		{"/etc/plain", "more", "0644", "root:root"},
		{"/run/kubeadm/kubeadm-join-config.yaml",
			"---\napiVersion: kubeadm.k8s.io/v1beta3\nkind: JoinConfiguration\nnodeRegistration:\n  name: 'ip-10-0-1-23.eu-west-1.compute.internal'",
			"0640", "root:root"},
	}
	if diff := cmp.Diff(want, files[:len(want)]); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if !all[3].Append || all[0].Append {
		t.Errorf("append: want the fourth file alone to add to another, got %v and %v", all[3].Append, all[0].Append)
	}
}

// TestMetadataOnAzure: what cloud-init knows of a machine there has other names, and its zone is the fault domain.
func TestMetadataOnAzure(t *testing.T) {
	t.Parallel()
	machine := cloudinit.Instance{ID: "0f-1", Type: "Standard_D2s_v3", Hostname: "capz-mp-0000001", Cloud: "azure", Region: "westus2",
		Zone: "2", FaultDomain: "1", Arch: "x86_64"}
	for _, c := range []struct{ reason, template, want string }{
		{"the published manifest's spelling", `{{ ds.meta_data["local_hostname"] }}`, "capz-mp-0000001"},
		{"what the metadata service answers is kept whole", "{{ ds.meta_data.imds.compute.location }}-{{ ds.meta_data.imds.compute.zone }}",
			"westus2-2"},
		{"its zone is the fault domain", "{{ v1.availability_zone }} {{ v1.platform }}", "1 azure"},
		{"AWS's names are not there", "{{ ds.meta_data.instance_type }}", "CI_MISSING_JINJA_VAR/ds.meta_data.instance_type"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			got, err := cloudinit.Parse([]byte("## template: jinja\n#cloud-config\nwrite_files:\n- path: /f\n  content: '"+c.template+"'\n"),
				machine.Metadata(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if text := string(got.Files[0].Content); text != c.want {
				t.Errorf("want %q, got %q", c.want, text)
			}
		})
	}
}

// TestMetadataOnGoogleCloud: the metadata server gives the full name of a machine, of which cloud-init takes the first part.
func TestMetadataOnGoogleCloud(t *testing.T) {
	t.Parallel()
	machine := cloudinit.Instance{
		ID: "42", Type: "n2-standard-2", Hostname: "mp-0-x1y2.us-central1-b.c.simulated-project.internal", Cloud: "gcp", Region: "us-central1",
		Zone: "us-central1-b",
	}
	for _, c := range []struct{ reason, template, want string }{
		{"the published manifest's spelling", `{{ ds.meta_data.local_hostname.split(".")[0] }}`, "mp-0-x1y2"},
		{"the full name", "{{ ds.meta_data.local_hostname }}", "mp-0-x1y2.us-central1-b.c.simulated-project.internal"},
		{"the host's own name", "{{ v1.local_hostname }}", "mp-0-x1y2"},
		{"its zone and cloud", "{{ v1.availability_zone }} {{ v1.region }} {{ v1.cloud_name }} {{ v1.platform }}",
			"us-central1-b us-central1 gce gce"},
		{"AWS's names are not there", "{{ ds.meta_data.local_ipv4 }}", "CI_MISSING_JINJA_VAR/ds.meta_data.local_ipv4"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			data := "## template: jinja\n#cloud-config\nwrite_files:\n- path: /f\n  content: |-\n    " + c.template + "\n"
			got, err := cloudinit.Parse([]byte(data), machine.Metadata(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if text := string(got.Files[0].Content); text != c.want {
				t.Errorf("want %q, got %q", c.want, text)
			}
		})
	}
}

func TestTemplates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ reason, template, want, fails, warns string }{
		{reason: "the seeds' spelling", template: "{{ ds.meta_data.local_hostname }}", want: facts.Hostname},
		{reason: "the providers' other spelling", template: `{{ ds.meta_data["local_hostname"] }}`, want: facts.Hostname},
		{reason: "single quotes", template: `{{ ds.meta_data['instance_id'] }}`, want: "i-0abc"},
		{reason: "hyphens are underscores", template: `{{ ds.meta_data["local-hostname"] }}`, want: facts.Hostname},
		{reason: "nested, for provider IDs", template: "aws:///{{ ds.meta_data.placement.availability_zone }}/{{ds.meta_data.instance_id}}",
			want: "aws:///eu-west-1a/i-0abc"},
		{reason: "standard names", template: "{{ v1.local_hostname }} {{ v1.region }} {{ v1.availability_zone }} {{ v1.cloud_name }}",
			want: facts.Hostname + " eu-west-1 eu-west-1a aws"},
		{reason: "standard names without v1", template: "{{ instance_id }} {{ region }}", want: "i-0abc eu-west-1"},
		{reason: "whitespace marks", template: "{{- v1.region -}}", want: "eu-west-1"},
		{reason: "the usual way to write braces", template: `{{ '{{' }} .Name {{ "}}" }}`, want: "{{ .Name }}"},
		{reason: "raw blocks are for other templates", template: "{% raw %}{{ .Name }}{% endraw %}!", want: "{{ .Name }}!"},
		{reason: "comments vanish", template: "a{# no {{ x }} #}b", want: "ab"},
		{reason: "an unknown variable is named and marked, as cloud-init does", template: "{{ ds.meta_data.nickname }}",
			want: "CI_MISSING_JINJA_VAR/ds.meta_data.nickname", warns: "ds.meta_data.nickname"},
		{reason: "a subtree is no text", template: "{{ ds.meta_data }}", want: "CI_MISSING_JINJA_VAR/ds.meta_data", warns: "ds.meta_data"},
		{reason: "a part of a text", template: `{{ v1.region.split('-')[1] }}`, want: "west"},
		{reason: "a part of an unknown variable is as unknown", template: `{{ v1.nickname.split('-')[1] }}`,
			want: "CI_MISSING_JINJA_VAR/v1.nickname", warns: "v1.nickname"},
		{reason: "a part that there is not", template: `{{ v1.region.split('-')[9] }}`, fails: "asks for part 9 of 3"},
		{reason: "filters are not guessed", template: "{{ v1.region | upper }}", fails: "{{ v1.region | upper }} is not supported"},
		{reason: "another language's template", template: "{{ .Name }}", fails: "{{ .Name }} is not supported"},
		{reason: "statements are not guessed", template: "{% if v1.region %}x{% endif %}", fails: "{% if v1.region %} is not supported"},
		{reason: "an open expression", template: "{{ v1.region", fails: "{{ is not closed by }}"},
		{reason: "an open raw block", template: "{% raw %}x", fails: "not closed by endraw"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			data := "## template: jinja\n#cloud-config\nwrite_files:\n- path: /f\n  content: |\n    " + c.template + "\n"
			got, err := cloudinit.Parse([]byte(data), facts.Metadata(), nil)
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Fatalf("error: want %q, got %v", c.fails, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if text := strings.TrimSpace(string(got.Files[0].Content)); text != c.want {
				t.Errorf("want %q, got %q", c.want, text)
			}
			if warned := strings.Join(got.Warnings, ""); !strings.Contains(warned, c.warns) || c.warns == "" && warned != "" {
				t.Errorf("warnings: want %q, got %q", c.warns, warned)
			}
		})
	}
	withoutHeader, err := cloudinit.Parse([]byte("#cloud-config\nruncmd: ['{{ x }}']\n"), facts.Metadata(), nil)
	if err != nil || withoutHeader.Commands[0] != "{{ x }}" {
		t.Errorf("without the header nothing is rendered: want {{ x }}, got %v, %v", withoutHeader, err)
	}
}

func TestFormsOfUserData(t *testing.T) {
	t.Parallel()
	config := "#cloud-config\nruncmd: [one]\n"
	archive := func(parts ...string) string {
		return "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=B\n\n--B\n" + strings.Join(parts, "\n--B\n") + "\n--B--\n"
	}
	for _, c := range []struct {
		reason, data, fails string
		commands, notes     []string
	}{
		{reason: "plain", data: config, commands: []string{"one"}},
		{reason: "windows line ends", data: "#cloud-config\r\nruncmd: [one]\r\n", commands: []string{"one"}},
		{reason: "gzip", data: string(zipped(t, config)), commands: []string{"one"}},
		{reason: "a command as a list of words is quoted", data: "#cloud-config\nruncmd:\n- [echo, 'a b', 3]\n- null\n",
			commands: []string{"echo 'a b' 3"}},
		{reason: "an archive with a script", data: archive("Content-Type: text/cloud-config\n\n"+config,
			"Content-Type: text/x-shellscript\n\n#!/bin/sh\nreboot"), commands: []string{"one"},
			notes: []string{"user data part of type shellscript: only what joins a cluster is carried out by a simulated machine"}},
		{reason: "an encoded part", data: archive("Content-Type: text/cloud-config\nContent-Transfer-Encoding: base64\n\n" + b64([]byte(config))),
			commands: []string{"one"}},
		{reason: "a part that is told by its first line", data: archive("Content-Type: text/plain\n\n" + config), commands: []string{"one"}},
		{reason: "the first of two says what runs, as with cloud-init's default merge",
			data:     archive("Content-Type: text/cloud-config\n\n"+config, "Content-Type: text/cloud-config\n\n#cloud-config\nruncmd: [two]"),
			commands: []string{"one"}},
		{reason: "a script alone is known", data: "#!/bin/sh\nkubeadm join\n",
			notes: []string{"user data part of type shellscript: only what joins a cluster is carried out by a simulated machine"}},
		{reason: "nothing", data: " \n", fails: "user data is empty"},
		{reason: "some text", data: "join me", fails: "unhandled non-multipart"},
		{reason: "a template header with other blanks is none that cloud-init knows", data: "##template: jinja\n" + config,
			fails: "unhandled non-multipart"},
		{reason: "ignition", data: `{"ignition":{"version":"2.3.0"},"secret":"s3cr3t"}`, fails: "unhandled non-multipart"},
		{reason: "damaged gzip", data: "\x1f\x8bxx", fails: "looks like gzip but is not"},
		{reason: "a bomb", data: string(zipped(t, strings.Repeat("#", 5<<20))), fails: "unpacks to more than"},
		{reason: "no YAML", data: "#cloud-config\na: [s3cr3t\n", fails: "failed loading yaml blob"},
		{reason: "a list at the top", data: "#cloud-config\n- s3cr3t\n", fails: "failed loading yaml blob"},
		{reason: "commands of a wrong type", data: "#cloud-config\nruncmd: s3cr3t\n", fails: "runcmd: want a list"},
		{reason: "a command of a wrong type", data: "#cloud-config\nruncmd: [{a: s3cr3t}]\n",
			fails: "runcmd[0]: want a string or a list of strings, found a mapping"},
		{reason: "files of a wrong type", data: "#cloud-config\nwrite_files: s3cr3t\n", fails: "write_files: want a list"},
		{reason: "another renderer", data: "## template: mako\n#cloud-config\n", fails: `renderer "mako"`},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			got, err := cloudinit.Parse([]byte(c.data), facts.Metadata(), nil)
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Fatalf("error: want %q, got %v", c.fails, err)
				}
				if strings.Contains(err.Error(), "s3cr3t") {
					t.Errorf("the error quotes the user data: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.commands, got.Commands); diff != "" {
				t.Errorf("commands (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.notes, got.Notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestInclude(t *testing.T) {
	t.Parallel()
	fetch := func(url string) ([]byte, error) {
		switch url {
		case "https://h/config?sig=s3cr3t":
			return zipped(t, "## template: jinja\n#cloud-config\nruncmd: ['{{ ds.meta_data.local_hostname }}']\n"), nil
		case "https://h/circle":
			return []byte("#include\nhttps://h/circle\n"), nil
		default:
			return nil, errors.New("403 Forbidden")
		}
	}
	for _, c := range []struct{ reason, data, want, fails string }{
		{reason: "what is elsewhere counts as if it stood there", data: "#include\n# a comment\n\nhttps://h/config?sig=s3cr3t\n",
			want: facts.Hostname},
		{reason: "once is as good", data: "#include-once\nhttps://h/config?sig=s3cr3t\n", want: facts.Hostname},
		{reason: "an address whose time is over", data: "#include\nhttps://h/expired?sig=s3cr3t\n", fails: "included URL failed: 403 Forbidden"},
		{reason: "a circle", data: "#include\nhttps://h/circle\n", fails: "nested more than"},
	} {
		got, err := cloudinit.Parse([]byte(c.data), facts.Metadata(), fetch)
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) || strings.Contains(err.Error(), "s3cr3t") {
				t.Errorf("%s: want %q and no secret, got %v", c.reason, c.fails, err)
			}
			continue
		}
		if err != nil || len(got.Commands) != 1 || got.Commands[0] != c.want {
			t.Errorf("%s: want the command %s, got %+v, %v", c.reason, c.want, got, err)
		}
	}
}

func TestFilesThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ reason, entry, warns string }{
		{"no path", "content: x", "no path provided"},
		{"not base64", "path: /f\n  encoding: b64\n  content: '***'", "/f: content is not base64"},
		{"not gzip", "path: /f\n  encoding: gz+b64\n  content: YWJj", "/f: content is not gzip"},
		{"unknown encoding", "path: /f\n  encoding: rot13\n  content: x", "unknown encoding type rot13"},
		{"a mapping as content", "path: /f\n  content: {a: b}", "content: want a string, found a mapping"},
		{"a bomb", "path: /f\n  encoding: gzip+base64\n  content: " + b64(zipped(t, strings.Repeat("x", 2<<20))), "unpacks to more than"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			got, err := cloudinit.Parse([]byte("#cloud-config\nhostname: h\nwrite_files:\n- "+c.entry+"\n- path: /good\n  permissions: 0600\n"),
				facts.Metadata(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], c.warns) {
				t.Errorf("warnings: want %q, got %q", c.warns, got.Warnings)
			}
			if len(got.Files) != 1 || got.Files[0].Path != "/good" || got.Files[0].Permissions != "0600" {
				t.Errorf("files: want the good one alone with mode 0600, got %+v", got.Files)
			}
			if got.Hostname != "h" {
				t.Errorf("hostname: want h, got %q", got.Hostname)
			}
		})
	}
}
