package infrapool_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/kube/infrapool/bootstrap"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/providers/aws/awsmachinepool"
)

func awsCluster(region string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2", "kind": "AWSCluster",
		"metadata": map[string]any{"name": "c", "namespace": "default"},
		"spec":     map[string]any{"region": region, "network": map[string]any{"vpc": map[string]any{"id": "vpc-1"}}},
	}}
}

func TestAWSTranslate(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		in     infrapool.Inputs
		region string
		vpc    string
		err    string
	}{
		"cluster": {
			reason: "the cluster says where its pools are", in: infrapool.Inputs{InfraCluster: awsCluster("eu-west-1")}, region: "eu-west-1",
			vpc: "vpc-1",
		},
		"cluster and memory": {
			reason: "what the cluster says now counts", region: "eu-west-1", vpc: "vpc-1",
			in: infrapool.Inputs{InfraCluster: awsCluster("eu-west-1"), Resolved: map[string]string{"region": "us-east-1"}},
		},
		"cluster gone": {
			reason: "a pool is found for its deletion when its cluster is gone",
			in:     infrapool.Inputs{Resolved: map[string]string{"region": "eu-west-1"}}, region: "eu-west-1",
		},
		"region of the settings": {
			reason: "a cluster without region leaves it to the controller's settings, and that is remembered too",
			in:     infrapool.Inputs{InfraCluster: awsCluster("")}, vpc: "vpc-1",
		},
		"settings, cluster gone": {reason: "", in: infrapool.Inputs{Resolved: map[string]string{"region": ""}}},
		"nothing known": {
			reason: "looking in the wrong region would find nothing and leave the group behind",
			err:    `metadata.annotations[muster.dev/resolved] does not say the region of the Auto Scaling group: set it to {"region": "<region>"}`,
		},
		"cluster unreadable": {
			reason: "a cluster of another shape is no cluster without region",
			in: infrapool.Inputs{InfraCluster: &unstructured.Unstructured{Object: map[string]any{"kind": "AWSCluster",
				"spec": map[string]any{"region": int64(1)}}},
				Resolved: map[string]string{"region": "eu-west-1"}},
			err: "another type",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := &awsv1.AWSMachinePool{Spec: awsv1.AWSMachinePoolSpec{MinSize: 1, MaxSize: 3, ProviderID: "arn", ProviderIDList: []string{"a"}}}
			got, err := awsmachinepool.Adapter{}.Translate(o, tc.in)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("%s: want error with %q, got %v", tc.reason, tc.err, err)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if c := got.Spec.Cluster; c.Region != tc.region || c.VPCID != tc.vpc {
				t.Errorf("%s: want region %q, VPC %q; got %q, %q", tc.reason, tc.region, tc.vpc, c.Region, c.VPCID)
			}
			if diff := cmp.Diff(map[string]string{"region": tc.region}, got.Keep); diff != "" {
				t.Errorf("%s: kept, want -, got +\n%s", tc.reason, diff)
			}
			if got.Min != 1 || got.Max != 3 || got.MinField != "spec.minSize" || got.MaxField != "spec.maxSize" {
				t.Errorf("bounds: got %+v", got)
			}
			if got.Spec.Pool.ProviderID != "" || got.Spec.Pool.ProviderIDList != nil || o.Spec.ProviderID != "arn" {
				t.Errorf("the driver is handed what we write ourselves, or the object was changed: %+v", got.Spec.Pool)
			}
		})
	}
}

func TestAWSPlace(t *testing.T) {
	t.Parallel()
	infra := clusterv1.ContractVersionedObjectReference{APIGroup: "infrastructure.cluster.x-k8s.io", Kind: "AWSCluster", Name: "i"}
	for name, tc := range map[string]struct {
		reason       string
		controlPlane string
		want         string
	}{
		"own control plane": {"the network is described by the infrastructure", "KubeadmControlPlane", "AWSCluster"},
		"none":              {"a cluster may have no control plane object", "", "AWSCluster"},
		"EKS":               {"Amazon's control plane describes the network itself", "AWSManagedControlPlane", "AWSManagedControlPlane"},
	} {
		cluster := &clusterv1.Cluster{Spec: clusterv1.ClusterSpec{InfrastructureRef: infra,
			ControlPlaneRef: clusterv1.ContractVersionedObjectReference{APIGroup: "controlplane.cluster.x-k8s.io", Kind: tc.controlPlane,
				Name: "cp"}}}
		if got := (awsmachinepool.Adapter{}).InfraCluster(cluster).Kind; got != tc.want {
			t.Errorf("%s: %s: want %s, got %s", name, tc.reason, tc.want, got)
		}
	}
}

func TestAWSReport(t *testing.T) {
	t.Parallel()
	four, three, old := "4", "3", "2"
	deleting := awsv1.ASGStatusDeleteInProgress
	for name, tc := range map[string]struct {
		reason   string
		before   awsv1.AWSMachinePoolStatus
		template string
		group    *pool.Group
		want     awsv1.AWSMachinePoolStatus
	}{
		"runs": {
			reason:   "the ID is the template's, the version the one that the group launches from",
			template: "lt-1:4", group: &pool.Group{Template: "lt-1:3"},
			want: awsv1.AWSMachinePoolStatus{LaunchTemplateID: "lt-1", LaunchTemplateVersion: &three},
		},
		"no group": {
			reason: "the version is there as soon as the template is, and what is gone is not shown any longer", template: "lt-1:4",
			before: awsv1.AWSMachinePoolStatus{LaunchTemplateID: "lt-1", LaunchTemplateVersion: &old, ASGStatus: &deleting},
			want:   awsv1.AWSMachinePoolStatus{LaunchTemplateID: "lt-1", LaunchTemplateVersion: &four},
		},
		"nothing": {reason: "a pool that has nothing shows nothing"},
		"going": {reason: "the group's own status is known to the ecosystem", group: &pool.Group{Deleting: true},
			want: awsv1.AWSMachinePoolStatus{ASGStatus: &deleting}},
	} {
		o := &awsv1.AWSMachinePool{Status: tc.before}
		awsmachinepool.Adapter{}.Report(o, report.Report{Template: tc.template}, engine.Outcome{Observed: pool.Observed{Group: tc.group}})
		if diff := cmp.Diff(tc.want, o.Status); diff != "" {
			t.Errorf("%s: %s: want -, got +\n%s", name, tc.reason, diff)
		}
	}
}

func TestRolloutOf(t *testing.T) {
	t.Parallel()
	strategy := &awsv1.Strategy{RollingUpdate: &common.RollingUpdate{
		MaxSurge: new(intstr.FromString("25%")), MaxUnavailable: new(intstr.FromInt32(1)), DeletePolicy: common.DeletePolicyNewest}}
	fields := func(surge, unavailable pool.IntOrPercent) *pool.Strategy {
		return &pool.Strategy{MaxSurge: surge, MaxUnavailable: unavailable,
			SurgeField: "spec.strategy.rollingUpdate.maxSurge", UnavailableField: "spec.strategy.rollingUpdate.maxUnavailable"}
	}
	healthy := func(surge, unavailable pool.IntOrPercent) *pool.Strategy {
		return &pool.Strategy{MaxSurge: surge, MaxUnavailable: unavailable,
			SurgeField: "spec.refreshPreferences.maxHealthyPercentage", UnavailableField: "spec.refreshPreferences.minHealthyPercentage"}
	}
	percents := func(minPercent, maxPercent *int64) awsv1.AWSMachinePoolSpec {
		return awsv1.AWSMachinePoolSpec{RefreshPreferences: &awsv1.RefreshPreferences{
			MinHealthyPercentage: minPercent, MaxHealthyPercentage: maxPercent,
		}}
	}
	percent := func(n int) pool.IntOrPercent { return pool.IntOrPercent{Value: n, Percent: true} }
	one, none := pool.IntOrPercent{Value: 1}, pool.IntOrPercent{}
	for name, c := range map[string]struct {
		reason   string
		spec     awsv1.AWSMachinePoolSpec
		strategy *pool.Strategy
		policy   pool.DeletePolicy
		rollback bool
		minReady time.Duration
		disabled string
	}{
		"nothing":       {reason: "one by one, in the default order", strategy: fields(one, none), policy: pool.Oldest},
		"no percentage": {reason: "the same limits", spec: percents(nil, nil), strategy: healthy(one, none), policy: pool.Oldest},
		"a minimum": {reason: "the rest may be missing, beside the default surge", spec: percents(new(int64(90)), nil),
			strategy: healthy(one, percent(10)), policy: pool.Oldest},
		"no surge": {reason: "a limit that is named holds", spec: percents(new(int64(90)), new(int64(100))),
			strategy: healthy(percent(0), percent(10)), policy: pool.Oldest},
		"a surge": {reason: "what is above all is added", spec: percents(new(int64(100)), new(int64(150))),
			strategy: healthy(percent(50), none), policy: pool.Oldest},
		"no room": {reason: "another machine comes rather than one goes", spec: percents(new(int64(100)), new(int64(100))),
			strategy: healthy(one, none), policy: pool.Oldest},
		"warm-up": {reason: "as long must the node of a new machine have been Ready", minReady: 30 * time.Second,
			spec:     awsv1.AWSMachinePoolSpec{RefreshPreferences: &awsv1.RefreshPreferences{InstanceWarmup: new(int64(30))}},
			strategy: healthy(one, none), policy: pool.Oldest},
		"refresh": {reason: "the group's own refresh, because it is named, and its limits are the cloud's", policy: pool.Newest,
			spec: awsv1.AWSMachinePoolSpec{
				Strategy: &awsv1.Strategy{Type: awsv1.StrategyInstanceRefresh,
					RollingUpdate: &common.RollingUpdate{DeletePolicy: common.DeletePolicyNewest}},
				RefreshPreferences: &awsv1.RefreshPreferences{InstanceWarmup: new(int64(30))}}},
		"strategy": {reason: "every value with its field", spec: awsv1.AWSMachinePoolSpec{Strategy: strategy},
			strategy: fields(percent(25), one), policy: pool.Newest},
		"empty": {reason: "the defaults of the schema, for an object that no schema has seen",
			spec: awsv1.AWSMachinePoolSpec{Strategy: &awsv1.Strategy{}}, strategy: fields(one, none),
			policy: pool.Oldest},
		"rollback": {reason: "the refresh takes itself back",
			spec: awsv1.AWSMachinePoolSpec{Strategy: &awsv1.Strategy{Type: awsv1.StrategyInstanceRefresh},
				RefreshPreferences: &awsv1.RefreshPreferences{RefreshChecks: awsv1.RefreshChecks{AutoRollback: true}}},
			policy: pool.Oldest, rollback: true},
		"strategy and rollback": {reason: "there is no refresh that could be taken back",
			strategy: fields(one, none), policy: pool.Oldest,
			spec: awsv1.AWSMachinePoolSpec{Strategy: &awsv1.Strategy{},
				RefreshPreferences: &awsv1.RefreshPreferences{RefreshChecks: awsv1.RefreshChecks{AutoRollback: true}}}},
		"disabled": {reason: "and the field is named",
			spec: awsv1.AWSMachinePoolSpec{RefreshPreferences: &awsv1.RefreshPreferences{Disable: true}}, policy: pool.Oldest,
			strategy: healthy(one, none), disabled: "spec.refreshPreferences.disable"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := awsmachinepool.Adapter{}.Translate(&awsv1.AWSMachinePool{Spec: c.spec},
				infrapool.Inputs{InfraCluster: awsCluster("eu-west-1")})
			if err != nil {
				t.Fatal(err)
			}
			if got.MinReady != c.minReady {
				t.Errorf("%s: want nodes Ready for %s, got %s", c.reason, c.minReady, got.MinReady)
			}
			if diff := cmp.Diff(c.strategy, got.Strategy); diff != "" || got.DeletePolicy != c.policy || got.Rollback != c.rollback {
				t.Errorf("%s: want policy %s, rollback %t, got %s, %t; strategy, want -, got +\n%s", c.reason, c.policy, c.rollback, got.DeletePolicy,
					got.Rollback, diff)
			}
			if (got.RollDisabled != nil) != (c.disabled != "") || got.RollDisabled != nil &&
				!strings.Contains(got.RollDisabled.Message, c.disabled) {
				t.Errorf("%s: want disabled by %q, got %+v", c.reason, c.disabled, got.RollDisabled)
			}
		})
	}
}

func TestBootstrapDataThatNothingReads(t *testing.T) {
	existing := &awsv1.ExistingLaunchTemplate{Name: new("golden"), Version: 1}
	for _, c := range []struct {
		reason   string
		existing *awsv1.ExistingLaunchTemplate
		want     bootstrap.Mode
	}{
		{"instances boot with what the pool's own template hands them", nil, bootstrap.Required},
		{"a template that is brought has user data of its own", existing, bootstrap.None},
	} {
		o := &awsv1.AWSMachinePool{Spec: awsv1.AWSMachinePoolSpec{AWSLaunchTemplate: awsv1.AWSLaunchTemplate{Existing: c.existing}}}
		if got := (awsmachinepool.Adapter{}).Kind().BootstrapMode(o); got != c.want {
			t.Errorf("%s: want %v, got %v", c.reason, c.want, got)
		}
	}
}
