package infrapool_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/kube/infrapool/bootstrap"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/providers/aws/awsmanaged"
)

// controlPlane is an AWSManagedControlPlane with the given name in EKS.
func controlPlane(eks string, ready bool) *unstructured.Unstructured {
	spec := map[string]any{"region": "eu-west-1", "version": "1.31", "network": map[string]any{"vpc": map[string]any{"id": "vpc-1"}}}
	if eks != "" {
		spec["eksClusterName"] = eks
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "controlplane.cluster.x-k8s.io/v1beta2", "kind": "AWSManagedControlPlane",
		"metadata": map[string]any{"name": "c", "namespace": "default"}, "spec": spec, "status": map[string]any{"ready": ready},
	}}
}

func TestWhere(t *testing.T) {
	t.Parallel()
	remembered := map[string]string{"region": "us-east-1", "eks-cluster": "old"}
	for name, tc := range map[string]struct {
		reason string
		in     infrapool.Inputs
		// where is region and cluster; held and waits are reasons; err is part of an error.
		where, held, waits, err string
	}{
		"ready": {reason: "the control plane says where its node groups are",
			in: infrapool.Inputs{InfraCluster: controlPlane("eks-1", true)}, where: "eu-west-1/eks-1"},
		"ready and memory": {reason: "what the control plane says now counts",
			in: infrapool.Inputs{InfraCluster: controlPlane("eks-1", true), Resolved: remembered}, where: "eu-west-1/eks-1"},
		"not ready": {reason: "no node could join yet; a group that exists is looked after",
			in: infrapool.Inputs{InfraCluster: controlPlane("eks-1", false)}, where: "eu-west-1/eks-1", held: "WaitingForEKSControlPlane"},
		"not named": {reason: "without the cluster's name EKS can't be asked",
			in: infrapool.Inputs{InfraCluster: controlPlane("", false)}, waits: "WaitingForEKSControlPlane"},
		"named before": {reason: "a name that a restored control plane has lost is remembered",
			in: infrapool.Inputs{InfraCluster: controlPlane("", true), Resolved: remembered}, where: "eu-west-1/old"},
		"gone": {reason: "a node group is found for its deletion when its control plane is gone",
			in: infrapool.Inputs{Resolved: remembered}, where: "us-east-1/old"},
		"gone, own settings": {reason: "a region of the controller's settings is an empty one",
			in: infrapool.Inputs{Resolved: map[string]string{"region": "", "eks-cluster": "x"}}, where: "/x"},
		"gone, nothing known": {reason: "looking in the wrong place would find nothing and leave the group behind",
			in:  infrapool.Inputs{Resolved: map[string]string{"region": "us-east-1"}},
			err: `set it to {"region": "<region>", "eks-cluster": "<name of the EKS cluster>"}`},
		"unreadable": {reason: "a control plane of another shape is none without a name", err: "another type",
			in: infrapool.Inputs{InfraCluster: &unstructured.Unstructured{Object: map[string]any{"kind": "AWSManagedControlPlane",
				"spec": map[string]any{"eksClusterName": int64(1)}}}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := awsmanaged.Adapter{}.Translate(&awsv1.AWSManagedMachinePool{}, tc.in)
			var notYet *infrapool.NotYet
			switch {
			case tc.waits != "":
				if !errors.As(err, &notYet) || notYet.Cause.Reason != tc.waits {
					t.Errorf("%s: want to wait with %s, got %v", tc.reason, tc.waits, err)
				}
				return
			case tc.err != "":
				if err == nil || errors.As(err, &notYet) || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("%s: want error with %q, got %v", tc.reason, tc.err, err)
				}
				return
			case err != nil:
				t.Fatalf("%s: %v", tc.reason, err)
			}
			region, eks, _ := strings.Cut(tc.where, "/")
			if c := got.Spec.Cluster; c.Region != region || c.EKSClusterName != eks {
				t.Errorf("%s: want %s, got %s/%s", tc.reason, tc.where, c.Region, c.EKSClusterName)
			}
			if diff := cmp.Diff(map[string]string{"region": region, "eks-cluster": eks}, got.Keep); diff != "" {
				t.Errorf("%s: kept, want -, got +\n%s", tc.reason, diff)
			}
			if held := got.CreateBlocked != nil; held != (tc.held != "") || held && got.CreateBlocked.Reason != tc.held {
				t.Errorf("%s: want held %q, got %v", tc.reason, tc.held, got.CreateBlocked)
			}
		})
	}
}

func TestAWSManagedTranslate(t *testing.T) {
	t.Parallel()
	percent := func(n int) *pool.Strategy {
		return &pool.Strategy{MaxUnavailable: pool.IntOrPercent{Value: n, Percent: true}, SurgeField: "spec.updateConfig.updateStrategy",
			UnavailableField: "spec.updateConfig.maxUnavailablePercentage"}
	}
	number := func(n int) *pool.Strategy {
		return &pool.Strategy{MaxUnavailable: pool.IntOrPercent{Value: n}, SurgeField: "spec.updateConfig.updateStrategy",
			UnavailableField: "spec.updateConfig.maxUnavailable"}
	}
	for name, tc := range map[string]struct {
		reason   string
		spec     awsv1.AWSManagedMachinePoolSpec
		min, max int
		keep     int
		strategy *pool.Strategy
	}{
		"nothing said": {reason: "no bound, one at a time", max: math.MaxInt32, keep: 3, strategy: number(1)},
		"min alone": {reason: "no upper bound",
			spec: awsv1.AWSManagedMachinePoolSpec{Scaling: &awsv1.ManagedMachinePoolScaling{MinSize: new(int32(2))}}, min: 2, max: math.MaxInt32,
			keep: 3, strategy: number(1)},
		"max alone": {reason: "no lower bound",
			spec: awsv1.AWSManagedMachinePoolSpec{Scaling: &awsv1.ManagedMachinePoolScaling{MaxSize: new(int32(2))}}, max: 2, keep: 3,
			strategy: number(1)},
		"all said": {reason: "both bounds, a longer history, several at a time", min: 1, max: 5, keep: 7, strategy: number(4),
			spec: awsv1.AWSManagedMachinePoolSpec{
				Scaling:      &awsv1.ManagedMachinePoolScaling{MinSize: new(int32(1)), MaxSize: new(int32(5))},
				UpdateConfig: &awsv1.UpdateConfig{MaxUnavailable: new(4)}, AWSLaunchTemplate: &awsv1.AWSLaunchTemplate{VersionsToKeep: new(int32(7))}}},
		"a share": {reason: "in percent", max: math.MaxInt32, keep: 3, strategy: percent(33),
			spec: awsv1.AWSManagedMachinePoolSpec{UpdateConfig: &awsv1.UpdateConfig{MaxUnavailablePercentage: new(33)}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.spec.ProviderID, tc.spec.ProviderIDList = "arn", []string{"a"}
			got, err := awsmanaged.Adapter{}.Translate(&awsv1.AWSManagedMachinePool{Spec: tc.spec},
				infrapool.Inputs{InfraCluster: controlPlane("eks-1", true)})
			if err != nil {
				t.Fatal(err)
			}
			if got.Min != tc.min || got.Max != tc.max || got.KeepTemplates != tc.keep || got.MinField != "spec.scaling.minSize" ||
				got.MaxField != "spec.scaling.maxSize" {
				t.Errorf("%s: got %d to %d, %d versions", tc.reason, got.Min, got.Max, got.KeepTemplates)
			}
			if diff := cmp.Diff(tc.strategy, got.Strategy); diff != "" {
				t.Errorf("%s: want -, got +\n%s", tc.reason, diff)
			}
			if got.Spec.Pool.ProviderID != "" || got.Spec.Pool.ProviderIDList != nil {
				t.Errorf("%s: what the controller writes is no specification: got %+v", tc.reason, got.Spec.Pool)
			}
		})
	}
}

func TestPlace(t *testing.T) {
	t.Parallel()
	ref := func(kind string) clusterv1.ContractVersionedObjectReference {
		return clusterv1.ContractVersionedObjectReference{APIGroup: "x", Kind: kind, Name: "c"}
	}
	for name, tc := range map[string]struct {
		reason                string
		controlPlane, network string
		want                  string
	}{
		"EKS": {"the control plane says everything", "AWSManagedControlPlane", "AWSManagedCluster", "AWSManagedControlPlane"},
		"EKS by itself": {"older clusters have the control plane in both places", "AWSManagedControlPlane", "AWSManagedControlPlane",
			"AWSManagedControlPlane"},
		"EKS as place": {"and oldest ones in one alone", "", "AWSManagedControlPlane", "AWSManagedControlPlane"},
		"kubeadm":      {"EKS keeps no node groups for others", "KubeadmControlPlane", "AWSCluster", ""},
	} {
		got := awsmanaged.Adapter{}.InfraCluster(&clusterv1.Cluster{Spec: clusterv1.ClusterSpec{ControlPlaneRef: ref(tc.controlPlane),
			InfrastructureRef: ref(tc.network)}})
		if got.Kind != tc.want {
			t.Errorf("%s: %s: want %q, got %q", name, tc.reason, tc.want, got.Kind)
		}
	}
}

func TestBoots(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason   string
		template *awsv1.AWSLaunchTemplate
		want     bootstrap.Mode
	}{
		"EKS's template": {"EKS gives its own user data and takes none", nil, bootstrap.None},
		"own template":   {"a bootstrap provider may have something to say", &awsv1.AWSLaunchTemplate{}, bootstrap.Optional},
		"brought template": {"it is never written to", &awsv1.AWSLaunchTemplate{Existing: &awsv1.ExistingLaunchTemplate{Version: 1}},
			bootstrap.None},
	} {
		if got := (awsmanaged.Adapter{}).Kind().BootstrapMode(
			&awsv1.AWSManagedMachinePool{Spec: awsv1.AWSManagedMachinePoolSpec{AWSLaunchTemplate: tc.template}}); got != tc.want {
			t.Errorf("%s: %s: want %v, got %v", name, tc.reason, tc.want, got)
		}
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason          string
		newest, grouped string
		id, version     string
	}{
		"no group yet":     {"the version is there as soon as the template is", "lt-1:1", "", "lt-1", "1"},
		"group":            {"what the node group launches from counts", "lt-1:4", "lt-1:3", "lt-1", "3"},
		"EKS's template":   {"it is none of the pool's", "eks:1.31", "eks:1.31", "", ""},
		"nothing":          {"nothing is known", "", "", "", ""},
		"template deleted": {"the node group still launches from it", "", "lt-1:3", "lt-1", "3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := &awsv1.AWSManagedMachinePool{}
			o.Status.LaunchTemplateID, o.Status.LaunchTemplateVersion = new("old"), new("old")
			var out engine.Outcome
			if tc.grouped != "" {
				out.Observed.Group = &pool.Group{Template: tc.grouped}
			}
			awsmanaged.Adapter{}.Report(o, report.Report{Template: tc.newest}, out)
			got := [2]string{}
			for k, text := range []*string{o.Status.LaunchTemplateID, o.Status.LaunchTemplateVersion} {
				if text != nil {
					got[k] = *text
				}
			}
			if got != [2]string{tc.id, tc.version} {
				t.Errorf("%s: want %s version %s, got %v", tc.reason, tc.id, tc.version, got)
			}
		})
	}
}
