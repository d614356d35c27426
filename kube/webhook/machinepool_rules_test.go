package webhook

import (
	"strings"
	"testing"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/muster-project/muster/kube/skew"
)

// change is a test case's modification of a valid pool.
type change func(p *clusterv1.MachinePool)

func tainted(keys ...string) change {
	return func(p *clusterv1.MachinePool) {
		for _, key := range keys {
			p.Spec.Template.Spec.Taints = append(p.Spec.Template.Spec.Taints,
				clusterv1.MachineTaint{Key: key, Effect: "NoSchedule", Propagation: clusterv1.MachineTaintPropagationAlways})
		}
	}
}

// TestTaintRules holds which taints a pool may put on its nodes.
func TestTaintRules(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason  string
		keys    []string
		refused []string
	}{
		"people's own":   {reason: "what taints are for", keys: []string{"dedicated", "example.com/gpu", "node-role.kubernetes.io/infra"}},
		"out of service": {reason: "Kubernetes has people set this one", keys: []string{"node.kubernetes.io/out-of-service"}},
		"uninitialized": {reason: "it would keep every pod off for ever", keys: []string{"a", "node.cluster.x-k8s.io/uninitialized"},
			refused: []string{`spec.template.spec.taints[1].key: Invalid value: "node.cluster.x-k8s.io/uninitialized": is reserved: such taints are Cluster API's own`}},
		"outdated": {reason: "it comes and goes with rollouts", keys: []string{"node.cluster.x-k8s.io/outdated-revision"},
			refused: []string{"taints[0].key", "Cluster API's own"}},
		"not ready": {reason: "the node controller takes it away again", keys: []string{"node.kubernetes.io/not-ready"},
			refused: []string{"taints[0].key", "the kubelet and the node controller"}},
		"cloud": {reason: "the cloud's controller takes it away again",
			keys: []string{"node.cloudprovider.kubernetes.io/uninitialized"}, refused: []string{"the cloud's node controller"}},
		"control plane": {reason: "pools are workers", keys: []string{"node-role.kubernetes.io/control-plane",
			"node-role.kubernetes.io/master"}, refused: []string{"taints[0].key", "taints[1].key", "no machine pools"}},
		"no key": {reason: "schemas let through what no node takes", keys: []string{strings.Repeat("a", 64)},
			refused: []string{"taints[0].key", "63"}},
		"a long domain": {reason: "the same of the part before the slash", keys: []string{strings.Repeat("a", 254) + "/b"},
			refused: []string{"taints[0].key", "253"}},
		"many, one wrong": {reason: "every fault has its place", keys: []string{"a", "b", "node.kubernetes.io/memory-pressure", "c"},
			refused: []string{"taints[2].key"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := validPool()
			tainted(tc.keys...)(pool)
			_, err := poolValidator{}.ValidateCreate(t.Context(), pool)
			wantRefusal(t, tc.reason, err, tc.refused)
		})
	}
}

// infra makes a pool refer to another kind of infrastructure.
func infra(group, kind string) change {
	return func(p *clusterv1.MachinePool) {
		p.Spec.Template.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{APIGroup: group, Kind: kind, Name: "capa"}
	}
}

// secretNamed gives a pool the name of a secret for its bootstrap data, and no configuration.
func secretNamed(name string) change {
	return func(p *clusterv1.MachinePool) {
		p.Spec.Template.Spec.Bootstrap = clusterv1.Bootstrap{DataSecretName: &name}
	}
}

func TestReferenceRules(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason  string
		change  change
		refused []string
	}{
		"bootstrap template": {reason: "what a MachineDeployment refers to never gets ready for a pool",
			refused: []string{`spec.template.spec.bootstrap.configRef: Invalid value: "KubeadmConfigTemplate"`, "refer to a KubeadmConfig"},
			change: func(p *clusterv1.MachinePool) {
				p.Spec.Template.Spec.Bootstrap.ConfigRef.Kind = "KubeadmConfigTemplate"
			}},
		"infrastructure template": {reason: "the same of the machines",
			refused: []string{"spec.template.spec.infrastructureRef: ", "refer to a AWSMachinePool"},
			change:  func(p *clusterv1.MachinePool) { p.Spec.Template.Spec.InfrastructureRef.Kind = "AWSMachinePoolTemplate" }},
		"a Cluster": {reason: "the pool would become its owner, and delete it when it is deleted",
			refused: []string{`spec.template.spec.infrastructureRef: Invalid value: "Cluster": ` +
				"kind Cluster of API group cluster.x-k8s.io is outside the contract InfraMachinePool: its API group is not that of a provider; " +
				"allowed are kinds such as AWSMachinePool " +
				"of infrastructure.cluster.x-k8s.io, or of a provider's own API group, with the field spec.providerIDList"},
			change: infra("cluster.x-k8s.io", "Cluster")},
		"a Cluster as configuration": {reason: "the same", refused: []string{`spec.template.spec.bootstrap.configRef: Invalid value: "Cluster"`,
			"such as KubeadmConfig of bootstrap.cluster.x-k8s.io"},
			change: func(p *clusterv1.MachinePool) {
				p.Spec.Template.Spec.Bootstrap.ConfigRef = clusterv1.ContractVersionedObjectReference{APIGroup: "cluster.x-k8s.io", Kind: "Cluster",
					Name: "c1"}
			}},
		"a Secret": {reason: "core kinds have no group", refused: []string{"kind Secret of API group core is outside"},
			change: infra("", "Secret")},
		"a Deployment": {reason: "neither are Kubernetes' own groups a provider's", refused: []string{"of API group apps is outside"},
			change: infra("apps", "Deployment")},
		"a control plane": {reason: "another contract", refused: []string{"spec.template.spec.infrastructureRef"},
			change: infra("controlplane.cluster.x-k8s.io", "AWSManagedControlPlane")},
		"an infra Cluster": {reason: "another contract of the same providers", refused: []string{"its name is that of a Cluster"},
			change: infra("infrastructure.cluster.x-k8s.io", "AWSCluster")},
		"their control plane": {reason: "the same", refused: []string{"its name is that of a ControlPlane"},
			change: infra("infrastructure.cluster.x-k8s.io", "AzureManagedControlPlane")},
		"a machine": {reason: "the same", refused: []string{"its name is that of a Machine"},
			change: infra("infrastructure.cluster.x-k8s.io", "AWSMachine")},
		"bootstrap as infra": {reason: "the fields were swapped", refused: []string{"spec.template.spec.infrastructureRef"},
			change: infra("bootstrap.cluster.x-k8s.io", "KubeadmConfig")},
		"a foreign plane": {reason: "the first label of a group names its contract", refused: []string{"spec.template.spec.infrastructureRef"},
			change: infra("controlplane.example.com", "ExamplePlane")},
		"a provider's group": {reason: "the contract leaves providers their API group",
			change: infra("infrastructure.example.com", "ExampleMachinePool")},
		"any provider":  {reason: "whatever it is called", change: infra("machines.example.com", "ExampleNodes")},
		"a group below": {reason: "as vSphere has it", change: infra("vmware.infrastructure.cluster.x-k8s.io", "VSphereMachinePool")},
		"an administrator's kubeconfig": {reason: "it would become user data", change: secretNamed("c1-kubeconfig"), refused: []string{
			`spec.template.spec.bootstrap.dataSecretName: Invalid value: "c1-kubeconfig": secret c1-kubeconfig holds an administrator's kubeconfig of Cluster c1, which would become user data`}},
		"a CA": {reason: "with it a client is an administrator", change: secretNamed("c1-ca"),
			refused: []string{"holds the certificate authority of Cluster c1"}},
		"etcd's CA":        {reason: "the same", change: secretNamed("c1-etcd"), refused: []string{"dataSecretName"}},
		"the proxy's CA":   {reason: "the same", change: secretNamed("c1-proxy"), refused: []string{"dataSecretName"}},
		"service accounts": {reason: "it signs any token", change: secretNamed("c1-sa"), refused: []string{"dataSecretName"}},
		"etcd's client": {reason: "it reads everything", change: secretNamed("c1-apiserver-etcd-client"),
			refused: []string{"dataSecretName"}},
		"a user's kubeconfig": {reason: "managed control planes make one", change: secretNamed("c1-user-kubeconfig"),
			refused: []string{"dataSecretName"}},
		"data of that beginning": {reason: "names are the user's own", change: secretNamed("c1-kubeconfig-data")},
		"data of that end":       {reason: "there is no such Cluster", change: secretNamed("team-ca")},
		"no data":                {reason: "machines that need none", change: secretNamed("")},
		"skew annotation": {reason: "a word that does not count must not seem to",
			refused: []string{`metadata.annotations[muster.dev/skip-version-skew]: Unsupported value: "yes": supported values: "true"`},
			change:  func(p *clusterv1.MachinePool) { p.Annotations = map[string]string{skew.Annotation: "yes"} }},
		"skew annotation as it should be": {reason: "the one word",
			change: func(p *clusterv1.MachinePool) { p.Annotations = map[string]string{skew.Annotation: skew.Skip} }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := validPool()
			tc.change(pool)
			_, err := poolValidator{}.ValidateCreate(t.Context(), pool)
			wantRefusal(t, tc.reason, err, tc.refused)
		})
	}
}

// inNamespace sets the annotation that the conversion writes for a reference to another namespace.
func inNamespace(namespace string) change {
	return func(p *clusterv1.MachinePool) {
		p.Annotations = map[string]string{referencesAnnotation: `{"spec.template.spec.infrastructureRef":{"apiVersion":"infrastructure.cluster.x-k8s.io/v1beta1","kind":"AWSMachinePool","namespace":"` + namespace + `"}}`}
	}
}

// TestWarnings holds what is accepted with a warning, and which client gets the warning: a write that does not touch it is no occasion.
func TestWarnings(t *testing.T) {
	t.Parallel()
	version := func(v string) change { return func(p *clusterv1.MachinePool) { p.Spec.Template.Spec.Version = v } }
	bounds := func(least, most string) change { return func(p *clusterv1.MachinePool) { autoscaled(p, least, most) } }
	size := func(n int32) change { return func(p *clusterv1.MachinePool) { p.Spec.Replicas = &n } }
	domains := func(names ...string) change { return func(p *clusterv1.MachinePool) { p.Spec.FailureDomains = names } }
	for name, tc := range map[string]struct {
		reason string
		// was is nil for a new pool.
		was, is []change
		want    []string
	}{
		"nothing": {reason: "what is well said is taken in silence", is: []change{bounds("1", "5")}},
		"below": {reason: "an autoscaler leaves such a pool alone", is: []change{bounds("3", "5")},
			want: []string{"spec.replicas: 2 is outside of the autoscaler's 3 to 5, so that it will not touch the pool"}},
		"above": {reason: "the same", is: []change{bounds("0", "1")},
			want: []string{"spec.replicas: 2 is outside of the autoscaler's 0 to 1"}},
		"still below": {reason: "another edit is no second occasion", was: []change{bounds("3", "5")},
			is: []change{bounds("3", "5"), version("v1.36.1")}},
		"set below": {reason: "a new size is", was: []change{bounds("1", "5")}, is: []change{bounds("1", "5"), size(0)},
			want: []string{"spec.replicas: 0 is outside"}},
		"bounds past the size": {reason: "and so are new bounds", was: []change{bounds("1", "5")}, is: []change{bounds("4", "5")},
			want: []string{"spec.replicas: 2 is outside of the autoscaler's 4 to 5"}},
		"one bound": {reason: "half a pair means nothing to anybody", is: []change{func(p *clusterv1.MachinePool) {
			bounds("1", "5")(p)
			delete(p.Annotations, clusterv1.AutoscalerMaxSizeAnnotation)
		}}, want: []string{"metadata.annotations: cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size and "}},
		"at most none": {reason: "autoscalers want an upper bound of one at least", is: []change{bounds("0", "0")},
			want: []string{"metadata.annotations[cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size]: with 0"}},
		"older": {reason: "a typing error more often than a wish", was: []change{}, is: []change{version("v1.35.9")},
			want: []string{"spec.template.spec.version: v1.35.9 is older than v1.36.0, which it was"}},
		"newer": {reason: "upgrades are what versions are changed for", was: []change{}, is: []change{version("v1.36.1")}},
		"another provider": {reason: "EKSConfig to NodeadmConfig is a way that people go, and never an accident without a word",
			was: []change{}, is: []change{func(p *clusterv1.MachinePool) { p.Spec.Template.Spec.Bootstrap.ConfigRef.Kind = "NodeadmConfig" }},
			want: []string{"spec.template.spec.bootstrap.configRef: was a KubeadmConfig.bootstrap.cluster.x-k8s.io"}},
		"another configuration": {reason: "another name is how machines are rolled", was: []change{},
			is: []change{func(p *clusterv1.MachinePool) { p.Spec.Template.Spec.Bootstrap.ConfigRef.Name = "next" }}},
		"another namespace": {reason: "it was refused once, and has no effect now", is: []change{inNamespace("elsewhere")},
			want: []string{"spec.template.spec.infrastructureRef.namespace: elsewhere has no effect: a MachinePool refers to objects of its own " +
				"namespace, default"}},
		"another one, as it was": {reason: "told once", was: []change{inNamespace("elsewhere")}, is: []change{inNamespace("elsewhere"), size(3)}},
		"a machine's ID": {reason: "the template of a pool is no machine",
			is:   []change{func(p *clusterv1.MachinePool) { p.Spec.Template.Spec.ProviderID = "aws:///a/i-1" }},
			want: []string{"spec.template.spec.providerID: has no effect"}},
		"a domain twice": {reason: "it does not weigh more", is: []change{domains("a", "b", "a")},
			want: []string{"spec.failureDomains[2]: a is listed twice"}},
		"a domain twice, before": {reason: "a client that only scales can't fix it", was: []change{domains("a", "a")},
			is: []change{domains("a", "a"), size(3)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			make := func(changes []change) *clusterv1.MachinePool {
				p := validPool()
				for _, c := range changes {
					c(p)
				}
				return p
			}
			var got []string
			var err error
			if tc.was == nil {
				got, err = poolValidator{}.ValidateCreate(t.Context(), make(tc.is))
			} else {
				got, err = poolValidator{}.ValidateUpdate(t.Context(), make(tc.was), make(tc.is))
			}
			if err != nil {
				t.Fatalf("%s: want it taken, got %v", tc.reason, err)
			}
			wantWarnings(t, tc.reason, got, tc.want)
		})
	}
	if got, err := (poolValidator{}).ValidateDelete(t.Context(), validPool()); len(got) != 0 || err != nil {
		t.Errorf("deletion: want it to pass, got %v, %v", got, err)
	}
}

// wantWarnings holds the beginnings of warnings, in order.
func wantWarnings(t *testing.T, reason string, got, want []string) {
	t.Helper()
	ok := len(got) == len(want)
	for k := range got {
		ok = ok && strings.HasPrefix(got[k], want[k])
	}
	if !ok {
		t.Errorf("%s:\n got %q\nwant %q", reason, got, want)
	}
}
