package webhook

import (
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
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

// warningsTimeout is the timeout of the warning webhooks, in seconds.
const warningsTimeout = 5

// clientConfig returns the client configuration with which the API server calls a path.
type clientConfig = func(path string) admissionregistrationv1.WebhookClientConfig

// Configurations returns the webhook configurations for MachinePools and the given hooks. reach returns the client configuration of a path.
// Conversion is configured in the CustomResourceDefinitions instead: it is served at ConvertPath.
func Configurations(reach clientConfig, hooks []Hook) []client.Object {
	core := []Hook{
		{Role: Defaults, Version: clusterv1.GroupVersion, Name: "machinepool", Resource: "machinepools", Path: DefaultMachinePoolPath},
		{Role: DefaultsOlder, Version: clusterv1beta1.GroupVersion, Name: "machinepool", Resource: "machinepools",
			Path: DefaultOlderMachinePoolPath},
		{Role: Validates, Version: clusterv1.GroupVersion, Name: "machinepool", Resource: "machinepools", Path: ValidateMachinePoolPath},
	}
	return []client.Object{
		mutating(MutatingConfiguration, reach, core),
		validating(ValidatingConfiguration, reach, core, Validates),
		validating(WarningsConfiguration, reach, hooks, Warns),
		mutating(InfrastructureMutatingConfiguration, reach, hooks),
		validating(InfrastructureValidatingConfiguration, reach, hooks, Validates, Keeps),
	}
}

// mutating is the configuration of the hooks that fill in fields.
func mutating(name string, reach clientConfig, hooks []Hook) client.Object {
	fail, none := admissionregistrationv1.Fail, admissionregistrationv1.SideEffectClassNone
	configuration := &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, h := range hooks {
		match := admissionregistrationv1.Equivalent
		switch h.Role {
		case Defaults:
		case DefaultsOlder:
			match = admissionregistrationv1.Exact
		default:
			continue
		}
		configuration.Webhooks = append(configuration.Webhooks, admissionregistrationv1.MutatingWebhook{
			Name: string(h.Role) + "." + h.Name + "." + h.Version.Group, ClientConfig: reach(h.Path), Rules: h.rules(),
			FailurePolicy: &fail, MatchPolicy: &match, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
		})
	}
	return configuration
}

// validating is the configuration of the hooks with one of the roles, in the order of the roles.
func validating(name string, reach clientConfig, hooks []Hook, roles ...Role) client.Object {
	equivalent, none := admissionregistrationv1.Equivalent, admissionregistrationv1.SideEffectClassNone
	configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, role := range roles {
		for _, h := range hooks {
			if h.Role != role {
				continue
			}
			hook := admissionregistrationv1.ValidatingWebhook{
				Name: "validation." + h.Name + "." + h.Version.Group, ClientConfig: reach(h.Path), Rules: h.rules(),
				FailurePolicy: new(admissionregistrationv1.Fail), MatchPolicy: &equivalent, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
			}
			if role == Warns {
				hook.Name, hook.FailurePolicy, hook.TimeoutSeconds = "warnings."+h.Name+"."+h.Version.Group, new(admissionregistrationv1.Ignore),
					new(int32(warningsTimeout))
			}
			configuration.Webhooks = append(configuration.Webhooks, hook)
		}
	}
	return configuration
}

// rules returns the operations and resources for which the API server calls the hook.
func (h Hook) rules() []admissionregistrationv1.RuleWithOperations {
	operations := []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update}
	if h.Role == Keeps {
		operations = operations[1:]
	}
	return []admissionregistrationv1.RuleWithOperations{{
		Operations: slices.Clone(operations),
		Rule: admissionregistrationv1.Rule{APIGroups: []string{h.Version.Group}, APIVersions: []string{h.Version.Version},
			Resources: []string{h.Resource}},
	}}
}
