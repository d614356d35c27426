package upstream

import (
	"fmt"
	"net/http"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	bootstrapadmission "sigs.k8s.io/cluster-api/bootstrap/kubeadm/webhooks/admission"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	coreadmission "sigs.k8s.io/cluster-api/core/webhooks/admission"
	"sigs.k8s.io/cluster-api/feature"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// The paths, names and rules below are those of cluster-api's own webhook manifests.
const (
	mutateCluster       = "/mutate-cluster-x-k8s-io-v1beta2-cluster"
	validateCluster     = "/validate-cluster-x-k8s-io-v1beta2-cluster"
	validateClass       = "/validate-cluster-x-k8s-io-v1beta2-clusterclass"
	mutateMachine       = "/mutate-cluster-x-k8s-io-v1beta2-machine"
	validateMachine     = "/validate-cluster-x-k8s-io-v1beta2-machine"
	mutateHealthCheck   = "/mutate-cluster-x-k8s-io-v1beta2-machinehealthcheck"
	validateHealthCheck = "/validate-cluster-x-k8s-io-v1beta2-machinehealthcheck"
	validateKubeadm     = "/validate-bootstrap-cluster-x-k8s-io-v1beta2-kubeadmconfig"
)

// registrar is the part of a webhook server that takes handlers.
type registrar interface {
	Register(path string, handler http.Handler)
}

// serveWebhooks serves the webhooks. Conversion is not among them: one handler converts all kinds.
func serveWebhooks(mgr ctrl.Manager, cc clustercache.ClusterCache) error {
	server, scheme, c := mgr.GetWebhookServer(), mgr.GetScheme(), mgr.GetClient()
	registerWebhooks(server, scheme, c)
	clusters := &coreadmission.Cluster{Client: c, ClusterCacheReader: cc}
	if !feature.Gates.Enabled(feature.ClusterTopology) {
		registerClusters(server, scheme, clusters)
		return nil
	}
	// It takes the decoder that it needs for Clusters of a ClusterClass in no other way than this.
	if err := clusters.SetupWebhookWithManager(mgr); err != nil {
		return fmt.Errorf("serve cluster-api's webhooks of Cluster: %w", err)
	}
	return nil
}

func registerClusters(server registrar, scheme *runtime.Scheme, clusters *coreadmission.Cluster) {
	server.Register(mutateCluster, admission.WithDefaulter[*clusterv1.Cluster](scheme, clusters))
	server.Register(validateCluster, admission.WithValidator[*clusterv1.Cluster](scheme, clusters))
}

// registerWebhooks serves all but those of Clusters. That of ClusterClasses answers that the gate is off, if it is.
func registerWebhooks(server registrar, scheme *runtime.Scheme, c client.Reader) {
	machines, checks, configs := &coreadmission.Machine{}, &coreadmission.MachineHealthCheck{}, &bootstrapadmission.KubeadmConfig{}
	server.Register(validateClass, admission.WithValidator[*clusterv1.ClusterClass](scheme, &coreadmission.ClusterClass{Client: c}))
	server.Register(mutateMachine, admission.WithDefaulter[*clusterv1.Machine](scheme, machines))
	server.Register(validateMachine, admission.WithValidator[*clusterv1.Machine](scheme, machines))
	server.Register(mutateHealthCheck, admission.WithDefaulter[*clusterv1.MachineHealthCheck](scheme, checks))
	server.Register(validateHealthCheck, admission.WithValidator[*clusterv1.MachineHealthCheck](scheme, checks))
	server.Register(validateKubeadm, admission.WithValidator[*bootstrapv1.KubeadmConfig](scheme, configs))
}

// hook is one webhook: its name, its path and its resources.
type hook struct {
	name, path, group, resource string
	operations                  []admissionregistrationv1.OperationType
}

// Configurations returns the configurations of the webhooks. at returns how the API server reaches a path.
func Configurations(at func(path string) admissionregistrationv1.WebhookClientConfig) []client.Object {
	change := []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update}
	core, bootstrap := clusterv1.GroupVersion.Group, bootstrapv1.GroupVersion.Group
	mutating := &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "capi-mutating-webhook-configuration"}}
	for _, h := range []hook{
		{"default.cluster.cluster.x-k8s.io", mutateCluster, core, "clusters", change},
		{"default.machine.cluster.x-k8s.io", mutateMachine, core, "machines", change},
		{"default.machinehealthcheck.cluster.x-k8s.io", mutateHealthCheck, core, "machinehealthchecks", change},
	} {
		mutating.Webhooks = append(mutating.Webhooks, h.mutating(at))
	}
	validating := &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "capi-validating-webhook-configuration"}}
	for _, h := range []hook{
		{"validation.cluster.cluster.x-k8s.io", validateCluster, core, "clusters", append(change[:2:2], admissionregistrationv1.Delete)},
		{"validation.clusterclass.cluster.x-k8s.io", validateClass, core, "clusterclasses", append(change[:2:2], admissionregistrationv1.Delete)},
		{"validation.machine.cluster.x-k8s.io", validateMachine, core, "machines", change},
		{"validation.machinehealthcheck.cluster.x-k8s.io", validateHealthCheck, core, "machinehealthchecks", change},
		{"validation.kubeadmconfig.bootstrap.cluster.x-k8s.io", validateKubeadm, bootstrap, "kubeadmconfigs", change},
	} {
		validating.Webhooks = append(validating.Webhooks, h.validating(at))
	}
	return []client.Object{mutating, validating}
}

func (h hook) mutating(at func(path string) admissionregistrationv1.WebhookClientConfig) admissionregistrationv1.MutatingWebhook {
	return admissionregistrationv1.MutatingWebhook{
		Name: h.name, ClientConfig: at(h.path), Rules: h.rules(), AdmissionReviewVersions: []string{"v1"},
		FailurePolicy: new(admissionregistrationv1.Fail), MatchPolicy: new(admissionregistrationv1.Equivalent),
		SideEffects: new(admissionregistrationv1.SideEffectClassNone),
	}
}

func (h hook) validating(at func(path string) admissionregistrationv1.WebhookClientConfig) admissionregistrationv1.ValidatingWebhook {
	return admissionregistrationv1.ValidatingWebhook{
		Name: h.name, ClientConfig: at(h.path), Rules: h.rules(), AdmissionReviewVersions: []string{"v1"},
		FailurePolicy: new(admissionregistrationv1.Fail), MatchPolicy: new(admissionregistrationv1.Equivalent),
		SideEffects: new(admissionregistrationv1.SideEffectClassNone),
	}
}

func (h hook) rules() []admissionregistrationv1.RuleWithOperations {
	return []admissionregistrationv1.RuleWithOperations{{
		Operations: h.operations,
		Rule:       admissionregistrationv1.Rule{APIGroups: []string{h.group}, APIVersions: []string{"v1beta2"}, Resources: []string{h.resource}},
	}}
}
