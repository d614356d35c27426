package install

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/muster-project/muster/test/testrun"
)

const (
	// Cluster API has the version of go.mod, Muster the one that the page names.
	clusterAPIVersion, musterVersion, nextVersion = "v1.14.2", "v0.1.0", "v0.1.1"
	upgradeClusterctl                             = "clusterctl upgrade apply --infrastructure muster:" + nextVersion
	// initTimeout bounds "clusterctl init" on a busy machine.
	initTimeout = 5 * time.Minute
)

// clusterctlConfig is the page's configuration, with local repositories for what clusterctl would fetch from the network.
const clusterctlConfig = `providers:
- name: muster
  type: InfrastructureProvider
  url: DIR/infrastructure-muster/` + musterVersion + `/infrastructure-components.yaml
- name: cluster-api
  type: CoreProvider
  url: DIR/cluster-api/` + clusterAPIVersion + `/core-components.yaml
- name: kubeadm
  type: BootstrapProvider
  url: DIR/bootstrap-kubeadm/` + clusterAPIVersion + `/bootstrap-components.yaml
- name: kubeadm
  type: ControlPlaneProvider
  url: DIR/control-plane-kubeadm/` + clusterAPIVersion + `/control-plane-components.yaml
cert-manager:
  externallyProvisioned: true
`

// certManager are as much of cert-manager's definitions as clusterctl asks for, which finds out whether objects of them can be created.
const certManager = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: PLURAL.cert-manager.io}
spec:
  group: cert-manager.io
  names: {kind: KIND, listKind: KINDList, plural: PLURAL, singular: SINGULAR}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
---
`

// TestLongClusterctl follows the page's section with clusterctl itself, on a cluster that has nothing but cert-manager, and upgrades
// Muster.
func TestLongClusterctl(t *testing.T) {
	testrun.LongOnly(t)
	c := newCluster(t)
	binary := filepath.Join(scratch, "clusterctl")
	compile := exec.Command("go", "build", "-modfile=hack/clusterctl/go.mod", "-ldflags=-s -w", "-o", binary,
		"sigs.k8s.io/cluster-api/cmd/clusterctl")
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("build clusterctl: %v\n%s", err, out)
	}
	var manifests strings.Builder
	for _, kind := range []string{"Issuer", "Certificate"} {
		singular := strings.ToLower(kind)
		manifests.WriteString(strings.NewReplacer("KIND", kind, "SINGULAR", singular, "PLURAL", singular+"s").Replace(certManager))
	}
	write(t, filepath.Join(scratch, "cert-manager.yaml"), manifests.String())
	c.kubectl(t, "kubectl create -f "+filepath.Join(scratch, "cert-manager.yaml"))
	c.kubectl(t, "kubectl wait --for=condition=Established customresourcedefinitions --all")
	dir, home := repositories(t)
	c.clusterctl(t, binary, home, initClusterctl)
	c.wantObjects(t, "config/default")
	c.wantManager(t)
	c.wantTrust(t, "config/default")
	if got := c.kubectl(t, "kubectl get -A -o name providers.clusterctl.cluster.x-k8s.io"); !strings.Contains(got,
		"/infrastructure-muster\n") {
		t.Errorf("want Muster in clusterctl's inventory, found %s", got)
	}
	release(t, dir, nextVersion)
	c.clusterctl(t, binary, home, upgradeClusterctl)
	c.wantObjects(t, "config/default")
	if got := c.kubectl(t, "kubectl get -n "+namespace+
		" deployment muster-controller-manager -o jsonpath={.spec.template.spec.containers[0].image}"); !strings.HasSuffix(got, ":"+nextVersion) {
		t.Errorf("want the manager of %s, found %s", nextVersion, got)
	}
}

// clusterctl runs a command with the configuration of a home folder.
func (c *cluster) clusterctl(t *testing.T, binary, home, line string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), initTimeout)
	defer cancel()
	args := strings.Fields(line)
	command := exec.CommandContext(ctx, binary, args[1:]...)
	command.Env = []string{"HOME=" + home, "XDG_CONFIG_HOME=" + home, "KUBECONFIG=" + c.File, "CLUSTERCTL_DISABLE_VERSIONCHECK=true"}
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	if err := command.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", line, err, output.String())
	}
}

// release writes the files of a release of Muster that clusterctl reads.
func release(t *testing.T, dir, version string) {
	t.Helper()
	metadata, err := os.ReadFile("config/metadata.yaml")
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(dir, "infrastructure-muster", version)
	write(t, filepath.Join(folder, "metadata.yaml"), string(metadata))
	write(t, filepath.Join(folder, "infrastructure-components.yaml"),
		strings.ReplaceAll(build(t, "config/clusterctl"), "/muster:latest", "/muster:"+version))
}

// repositories writes the files of the releases below dir, and clusterctl's configuration into home. Of Cluster API's own releases they
// hold the definitions.
func repositories(t *testing.T) (dir, home string) {
	t.Helper()
	dir, home = t.TempDir(), t.TempDir()
	release(t, dir, musterVersion)
	metadata, err := os.ReadFile("config/metadata.yaml")
	if err != nil {
		t.Fatal(err)
	}
	upstream := strings.NewReplacer("major: 0", "major: 1", "minor: 1", "minor: 14").Replace(string(metadata))
	for _, p := range []struct{ folder, file, namespace, group string }{
		{"cluster-api", "core-components.yaml", "capi-system", "cluster."},
		{"bootstrap-kubeadm", "bootstrap-components.yaml", "capi-kubeadm-bootstrap-system", "bootstrap."},
		{"control-plane-kubeadm", "control-plane-components.yaml", "capi-kubeadm-control-plane-system", ""},
	} {
		folder := filepath.Join(dir, p.folder, clusterAPIVersion)
		write(t, filepath.Join(folder, "metadata.yaml"), upstream)
		text := fmt.Sprintf("apiVersion: v1\nkind: Namespace\nmetadata: {name: %s}\n", p.namespace)
		for _, file := range clusterAPI(t) {
			if p.group == "" || !strings.HasPrefix(filepath.Base(file), p.group) {
				continue
			}
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			text += "---\n" + string(content)
		}
		write(t, filepath.Join(folder, p.file), text)
	}
	write(t, filepath.Join(home, "cluster-api", "clusterctl.yaml"), strings.ReplaceAll(clusterctlConfig, "DIR", dir))
	return dir, home
}

// write writes a file, and the folders that it is in.
func write(t *testing.T, file, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
