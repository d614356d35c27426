package e2e

import (
	"fmt"
	"regexp"
	"strings"

	simaws "github.com/muster-project/muster/sim/aws"

	"github.com/muster-project/muster/test/e2e/world"
)

const identityManifest = `apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: AWSClusterStaticIdentity
metadata: {name: tenant}
spec: {secretRef: tenant-keys, allowedNamespaces: {selector: {matchLabels: {tenant: a}}}}
`

// identityDecides holds that a cluster's identity reference selects the identity for API calls, and that changes to its inputs affect the
// next call: the namespace's labels, the secret, and a rotated secret. No message has a key.
func identityDecides(w *world.World) {
	t := w.T
	t.Helper()
	says := func(what string) {
		t.Helper()
		pattern := regexp.MustCompile(what)
		w.Eventually(what+" in a condition", func() error {
			got := w.Conditions("capa-mp-0")
			if !pattern.MatchString(got) {
				return fmt.Errorf("the conditions are\n%s", got)
			}
			if strings.Contains(got, "not-the-secret") || strings.Contains(got, simaws.SecretAccessKey) {
				t.Errorf("want no key in a condition, got\n%s", got)
			}
			return nil
		})
	}
	keys := func(id, secret string) {
		t.Helper()
		w.Apply(fmt.Sprintf(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"tenant-keys","namespace":"muster-system"},"stringData":{"AccessKeyID":%q,"SecretAccessKey":%q}}`, id, secret))
	}
	w.Apply(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"muster-system"}}`)
	w.Kubectl("patch", "awscluster/capa", "--type=merge", "-p", `{"spec":{"identityRef":{"kind":"AWSClusterStaticIdentity","name":"tenant"}}}`)
	says("IdentityMissing: AWSCluster default/capa: spec.identityRef: AWSClusterStaticIdentity tenant does not exist")
	w.Apply(identityManifest)
	says("IdentityNotAllowed: AWSClusterStaticIdentity/tenant: spec.allowedNamespaces does not allow namespace default")
	w.Kubectl("label", "namespace/default", "tenant=a")
	says("IdentityMissing: AWSClusterStaticIdentity/tenant: spec.secretRef: secret muster-system/tenant-keys does not exist")
	keys("AKIANOBODY0000000000", "not-the-secret-of-anybody")
	says("Denied: .*AWSClusterStaticIdentity/tenant: InvalidClientTokenId")
	keys(simaws.AccessKeyID, simaws.SecretAccessKey)
	w.Ready("capa-mp-0", 2)
	w.Kubectl("scale", "machinepool/capa-mp-0", "--replicas=3")
	w.Ready("capa-mp-0", 3)
	w.Kubectl("patch", "awscluster/capa", "--type=merge", "-p", `{"spec":{"identityRef":null}}`)
	w.Kubectl("scale", "machinepool/capa-mp-0", "--replicas=2")
	w.Ready("capa-mp-0", 2)
}
