package webhook

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/kube/webhook/azure"
	"github.com/muster-project/muster/kube/webhook/templates"
	"github.com/muster-project/muster/kube/webhook/warnings"
)

// The names of the objects that Configurations returns.
const (
	MutatingConfiguration   = "muster-mutating-webhook-configuration"
	ValidatingConfiguration = "muster-validating-webhook-configuration"
	WarningsConfiguration   = "muster-warnings-webhook-configuration"

	InfrastructureMutatingConfiguration   = "muster-infrastructure-mutating-webhook-configuration"
	InfrastructureValidatingConfiguration = "muster-infrastructure-validating-webhook-configuration"
)

// +kubebuilder:webhook:verbs=create;update,path=/mutate-cluster-x-k8s-io-v1beta2-machinepool,mutating=true,failurePolicy=fail,matchPolicy=Equivalent,groups=cluster.x-k8s.io,resources=machinepools,versions=v1beta2,name=default.machinepool.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1
// +kubebuilder:webhook:verbs=create;update,path=/mutate-cluster-x-k8s-io-v1beta1-machinepool,mutating=true,failurePolicy=fail,matchPolicy=Exact,groups=cluster.x-k8s.io,resources=machinepools,versions=v1beta1,name=older.default.machinepool.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1
// +kubebuilder:webhook:verbs=create;update,path=/validate-cluster-x-k8s-io-v1beta2-machinepool,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,groups=cluster.x-k8s.io,resources=machinepools,versions=v1beta2,name=validation.machinepool.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1

// Configurations tell an API server to ask the webhooks. at says how it reaches a path. Conversion is told in the
// CustomResourceDefinitions instead: it is served at ConvertPath.
func Configurations(at func(path string) admissionregistrationv1.WebhookClientConfig) []client.Object {
	return append(append(machinePools(at), warned(at)), infrastructure(at)...)
}

// admitted is one kind that is defaulted and validated.
type admitted struct {
	// mutating and validating are the names of the configurations.
	mutating, validating string
	kind, resource       string
	version              schema.GroupVersion
	// defaulted and validated are the paths.
	defaulted, validated string
}

func machinePools(at func(path string) admissionregistrationv1.WebhookClientConfig) []client.Object {
	objects := admitted{
		mutating: MutatingConfiguration, validating: ValidatingConfiguration, kind: "machinepool", resource: "machinepools",
		version: clusterv1.GroupVersion, defaulted: DefaultMachinePoolPath, validated: ValidateMachinePoolPath,
	}.configurations(at)
	for _, o := range objects {
		if c, ok := o.(*admissionregistrationv1.MutatingWebhookConfiguration); ok {
			older := *c.Webhooks[0].DeepCopy()
			exact := admissionregistrationv1.Exact
			older.Name, older.ClientConfig, older.MatchPolicy = "older."+older.Name, at(DefaultOlderMachinePoolPath), &exact
			older.Rules[0].APIVersions = []string{clusterv1beta1.GroupVersion.Version}
			c.Webhooks = append(c.Webhooks, older)
		}
	}
	return objects
}

func infrastructure(at func(path string) admissionregistrationv1.WebhookClientConfig) []client.Object {
	objects := admitted{
		mutating: InfrastructureMutatingConfiguration, validating: InfrastructureValidatingConfiguration, kind: "azuremachinepool",
		resource: "azuremachinepools", version: azurev1.GroupVersion, defaulted: azure.DefaultPath, validated: azure.ValidatePath,
	}.configurations(at)
	for _, o := range objects {
		if c, ok := o.(*admissionregistrationv1.ValidatingWebhookConfiguration); ok {
			c.Webhooks = append(c.Webhooks, kept(at)...)
		}
	}
	return objects
}

// kept are the webhooks that keep the templates of ClusterClasses as they are.
func kept(at func(path string) admissionregistrationv1.WebhookClientConfig) []admissionregistrationv1.ValidatingWebhook {
	fail, equivalent, none := admissionregistrationv1.Fail, admissionregistrationv1.Equivalent, admissionregistrationv1.SideEffectClassNone
	var hooks []admissionregistrationv1.ValidatingWebhook
	for _, k := range templates.Kinds() {
		hooks = append(hooks, admissionregistrationv1.ValidatingWebhook{
			Name: "validation." + k.Name + "." + k.Version.Group, ClientConfig: at(k.Path),
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Update},
				Rule: admissionregistrationv1.Rule{APIGroups: []string{k.Version.Group},
					APIVersions: []string{k.Version.Version}, Resources: []string{k.Resource}},
			}},
			FailurePolicy: &fail, MatchPolicy: &equivalent, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
		})
	}
	return hooks
}

func (a admitted) configurations(at func(path string) admissionregistrationv1.WebhookClientConfig) []client.Object {
	fail, equivalent, none := admissionregistrationv1.Fail, admissionregistrationv1.Equivalent, admissionregistrationv1.SideEffectClassNone
	rules := []admissionregistrationv1.RuleWithOperations{{
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
		Rule: admissionregistrationv1.Rule{APIGroups: []string{a.version.Group},
			APIVersions: []string{a.version.Version}, Resources: []string{a.resource}},
	}}
	return []client.Object{
		&admissionregistrationv1.MutatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: a.mutating},
			Webhooks: []admissionregistrationv1.MutatingWebhook{{
				Name: "default." + a.kind + "." + a.version.Group, ClientConfig: at(a.defaulted), Rules: rules,
				FailurePolicy: &fail, MatchPolicy: &equivalent, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
			}},
		},
		&admissionregistrationv1.ValidatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: a.validating},
			Webhooks: []admissionregistrationv1.ValidatingWebhook{{
				Name: "validation." + a.kind + "." + a.version.Group, ClientConfig: at(a.validated), Rules: rules,
				FailurePolicy: &fail, MatchPolicy: &equivalent, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
			}},
		},
	}
}

// warned has people warned of what they write. Nobody is kept from writing when the webhooks do not answer.
func warned(at func(path string) admissionregistrationv1.WebhookClientConfig) client.Object {
	configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: WarningsConfiguration}}
	ignore, equivalent, none, seconds := admissionregistrationv1.Ignore, admissionregistrationv1.Equivalent, admissionregistrationv1.SideEffectClassNone, int32(5)
	for _, hook := range []struct{ path, kind, resource string }{
		{warnings.AWSMachinePoolPath, "awsmachinepool", "awsmachinepools"},
		{warnings.AWSManagedMachinePoolPath, "awsmanagedmachinepool", "awsmanagedmachinepools"},
	} {
		configuration.Webhooks = append(configuration.Webhooks, admissionregistrationv1.ValidatingWebhook{
			Name: "warnings." + hook.kind + "." + awsv1.GroupVersion.Group, ClientConfig: at(hook.path),
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
				Rule: admissionregistrationv1.Rule{APIGroups: []string{awsv1.GroupVersion.Group},
					APIVersions: []string{awsv1.GroupVersion.Version}, Resources: []string{hook.resource}},
			}},
			FailurePolicy: &ignore, MatchPolicy: &equivalent, SideEffects: &none, TimeoutSeconds: &seconds, AdmissionReviewVersions: []string{"v1"},
		})
	}
	return configuration
}
