package aws_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/aws"
)

func TestNodegroupsThatAreRefused(t *testing.T) {
	inNodeWorld(t, aws.Options{}, func(t *testing.T, w *nodeWorld) {
		image := w.image("1.33.1")
		source := func(name string, data *types.RequestLaunchTemplateData) func(*eks.CreateNodegroupInput) {
			return with(w.source(name, data), "1")
		}
		typed := source("typed", &types.RequestLaunchTemplateData{InstanceType: "m5.large"})
		own := source("own", &types.RequestLaunchTemplateData{ImageId: &image})
		w.make("taken")
		_, err := w.iam.CreateRole(t.Context(), &iam.CreateRoleInput{RoleName: awssdk.String("eks-only"),
			AssumeRolePolicyDocument: awssdk.String(trust("eks.amazonaws.com"))})
		ok(t, err)
		after(time.Minute)
		_, err = w.iam.CreateRole(t.Context(), &iam.CreateRoleInput{RoleName: awssdk.String("new"),
			AssumeRolePolicyDocument: awssdk.String(trust("ec2.amazonaws.com"))})
		ok(t, err)
		type change = func(*eks.CreateNodegroupInput)
		both := func(a, b change) change { return func(in *eks.CreateNodegroupInput) { a(in); b(in) } }
		scaling := func(low, want, high int32) change {
			return func(in *eks.CreateNodegroupInput) {
				in.ScalingConfig = &ekstypes.NodegroupScalingConfig{MinSize: &low, DesiredSize: &want, MaxSize: &high}
			}
		}
		role := func(name string) change {
			return func(in *eks.CreateNodegroupInput) {
				in.NodeRole = awssdk.String("arn:aws:iam::" + aws.AccountID + ":role/" + name)
			}
		}
		for _, c := range []struct {
			why, code string
			change    change
		}{
			{"another cluster", "ResourceNotFoundException", func(in *eks.CreateNodegroupInput) { in.ClusterName = awssdk.String("west") }},
			{"a name that is taken", "ResourceInUseException", func(in *eks.CreateNodegroupInput) { in.NodegroupName = awssdk.String("taken") }},
			{"a name that is too long", "InvalidParameterException",
				func(in *eks.CreateNodegroupInput) { in.NodegroupName = awssdk.String(strings.Repeat("x", 64)) }},
			{"less than the least", "InvalidParameterException", scaling(2, 1, 3)},
			{"more than the most", "InvalidParameterException", scaling(0, 2, 1)},
			{"nothing at most", "InvalidParameterException", scaling(0, 0, 0)},
			{"more than EKS has", "InvalidParameterException", scaling(0, 0, 451)},
			{"a disk of no size", "InvalidParameterException", func(in *eks.CreateNodegroupInput) { in.DiskSize = awssdk.Int32(-1) }},
			{"a disk that is too large", "InvalidParameterException", func(in *eks.CreateNodegroupInput) { in.DiskSize = awssdk.Int32(16385) }},
			{"a subnet that does not exist", "InvalidParameterException", func(in *eks.CreateNodegroupInput) { in.Subnets = []string{"subnet-0"} }},
			{"a role that does not exist", "InvalidParameterException", role("outsider")},
			{"a role that EKS does not know yet", "InvalidParameterException", role("new")},
			{"a role that instances may not take", "InvalidParameterException", role("eks-only")},
			{"a type that does not exist", "InvalidParameterException",
				func(in *eks.CreateNodegroupInput) { in.InstanceTypes = []string{"x9.huge"} }},
			{"an image for another architecture", "InvalidParameterException",
				func(in *eks.CreateNodegroupInput) { in.AmiType = ekstypes.AMITypesAl2023Arm64Standard }},
			{"an image that was not built for it", "InvalidParameterException",
				func(in *eks.CreateNodegroupInput) { in.AmiType = ekstypes.AMITypesAl2X8664 }},
			{"a version that is not the cluster's", "InvalidParameterException",
				func(in *eks.CreateNodegroupInput) { in.Version = awssdk.String("1.32") }},
			{"an image of one's own without a template", "InvalidParameterException",
				func(in *eks.CreateNodegroupInput) { in.AmiType = ekstypes.AMITypesCustom }},
			{"a label of EKS's", "InvalidParameterException",
				func(in *eks.CreateNodegroupInput) { in.Labels = map[string]string{"eks.amazonaws.com/x": "y"} }},
			{"a taint twice", "InvalidParameterException", func(in *eks.CreateNodegroupInput) { in.Taints = append(in.Taints, in.Taints...) }},
			{"two bounds of an update", "InvalidParameterException", func(in *eks.CreateNodegroupInput) {
				in.UpdateConfig = &ekstypes.NodegroupUpdateConfig{MaxUnavailable: awssdk.Int32(1), MaxUnavailablePercentage: awssdk.Int32(1)}
			}},
			{"a tag of AWS's", "BadRequestException", func(in *eks.CreateNodegroupInput) { in.Tags = map[string]string{"aws:x": "y"} }},
			{"a template that does not exist", "InvalidRequestException", with("lt-0123456789abcdef0", "1")},
			{"remote access beside a template", "InvalidParameterException", both(typed, func(in *eks.CreateNodegroupInput) {
				in.RemoteAccess = &ekstypes.RemoteAccessConfig{Ec2SshKey: awssdk.String(aws.KeyName)}
			})},
			{"a disk beside a template", "InvalidParameterException",
				both(typed, func(in *eks.CreateNodegroupInput) { in.DiskSize = awssdk.Int32(30) })},
			{"types here and there", "InvalidParameterException",
				both(typed, func(in *eks.CreateNodegroupInput) { in.InstanceTypes = []string{"m5.large"} })},
			{"an image beside one's own", "InvalidParameterException",
				both(own, func(in *eks.CreateNodegroupInput) { in.AmiType = ekstypes.AMITypesAl2023X8664Standard })},
			{"a version beside one's own image", "InvalidParameterException",
				both(own, func(in *eks.CreateNodegroupInput) { in.Version = awssdk.String(eksVersion) })},
			{"a release beside one's own image", "InvalidParameterException",
				both(own, func(in *eks.CreateNodegroupInput) { in.ReleaseVersion = awssdk.String("1.33.10-x") })},
			{"a profile in the template", "InvalidParameterException",
				source("profile", &types.RequestLaunchTemplateData{IamInstanceProfile: &types.LaunchTemplateIamInstanceProfileSpecificationRequest{
					Name: awssdk.String("x")}})},
			{"spot in the template", "InvalidParameterException",
				source("spot", &types.RequestLaunchTemplateData{InstanceMarketOptions: &types.LaunchTemplateInstanceMarketOptionsRequest{
					MarketType: types.MarketTypeSpot}})},
			{"a subnet in the template", "InvalidParameterException",
				source("subnet", &types.RequestLaunchTemplateData{NetworkInterfaces: []types.LaunchTemplateInstanceNetworkInterfaceSpecificationRequest{
					{SubnetId: awssdk.String(aws.SubnetID)}}})},
		} {
			_, err := w.eks.CreateNodegroup(t.Context(), w.input("blue", c.change))
			if err == nil {
				t.Errorf("%s: want it refused", c.why)
				continue
			}
			wantCode(t, err, c.code)
		}
		if got := w.server.State(aws.AccountID, aws.Region).Nodegroups; len(got) != 1 {
			t.Errorf("want none of them made, got %v", got)
		}
	})
}

// A creation that cannot go on ends in CREATE_FAILED with the reason, and can be deleted.
func TestCreationFails(t *testing.T) {
	text := base64.StdEncoding.EncodeToString([]byte("#cloud-config\n"))
	for _, c := range []struct {
		why   string
		begin func(*nodeWorld, *eks.CreateNodegroupInput)
		want  string
	}{
		{"nodes do not join", func(w *nodeWorld, _ *eks.CreateNodegroupInput) { w.nodes.set(func() { w.nodes.silent = true }) },
			"NodeCreationFailure: Instances failed to join the kubernetes cluster"},
		{"there is no capacity", func(w *nodeWorld, _ *eks.CreateNodegroupInput) {
			ok(w.t, w.server.Faults().Add(sim.Fault{Kind: sim.NoCapacity}))
		}, "AsgInstanceLaunchFailures: Could not launch"},
		{"user data that cannot be merged", func(w *nodeWorld, in *eks.CreateNodegroupInput) {
			with(w.source("mine", &types.RequestLaunchTemplateData{UserData: &text}), "1")(in)
		}, "Ec2LaunchTemplateInvalidConfiguration: User data was not in the MIME multipart format."},
	} {
		t.Run(c.why, func(t *testing.T) {
			inNodeWorld(t, aws.Options{}, func(t *testing.T, w *nodeWorld) {
				in := w.input("blue")
				c.begin(w, in)
				_, err := w.eks.CreateNodegroup(t.Context(), in)
				ok(t, err)
				if got := issues(w.until("blue", ekstypes.NodegroupStatusCreateFailed, 10*time.Minute)); !strings.HasPrefix(got, c.want) {
					t.Errorf("want %s, got %s", c.want, got)
				}
				_, err = w.eks.UpdateNodegroupConfig(t.Context(), &eks.UpdateNodegroupConfigInput{ClusterName: in.ClusterName,
					NodegroupName: in.NodegroupName, ScalingConfig: in.ScalingConfig})
				wantCode(t, err, "ResourceInUseException")
				_, err = w.eks.DeleteNodegroup(t.Context(), &eks.DeleteNodegroupInput{ClusterName: in.ClusterName, NodegroupName: in.NodegroupName})
				ok(t, err)
				after(2 * time.Minute)
				_, err = w.eks.DescribeNodegroup(t.Context(), &eks.DescribeNodegroupInput{ClusterName: in.ClusterName, NodegroupName: in.NodegroupName})
				wantCode(t, err, "ResourceNotFoundException")
			})
		})
	}
}

// An image of the user's own joins by its own user data, on demand or spot, of the first type that there is.
func TestOwnImageAndSpot(t *testing.T) {
	inNodeWorld(t, aws.Options{}, func(t *testing.T, w *nodeWorld) {
		image, text := w.image("1.33.1"), base64.StdEncoding.EncodeToString([]byte("#cloud-config\nruncmd: [join]\n"))
		id := w.source("mine", &types.RequestLaunchTemplateData{ImageId: &image, UserData: &text})
		n := w.make("own", with(id, "1"), func(in *eks.CreateNodegroupInput) {
			in.CapacityType, in.InstanceTypes = ekstypes.CapacityTypesSpot, []string{"m5.large", "m5a.large"}
		})
		if n.AmiType != ekstypes.AMITypesCustom || *n.ReleaseVersion != image || n.Version != nil {
			t.Errorf("want a custom image and no version, got %s, %s, %v", n.AmiType, *n.ReleaseVersion, n.Version)
		}
		for _, i := range w.read(w.behind(n)).Instances {
			m := w.nodes.machines()[*i.InstanceId]
			if !m.Managed.Own || string(m.UserData) != "#cloud-config\nruncmd: [join]\n" ||
				m.Managed.Labels["eks.amazonaws.com/capacityType"] != "SPOT" {
				t.Errorf("want its own user data and a spot node, got %q, %+v", m.UserData, m.Managed)
			}
		}
		for _, i := range w.server.State(aws.AccountID, aws.Region).Living() {
			if !i.Spot || i.Image != image || i.Tags["eks:nodegroup-name"] != "own" {
				t.Errorf("want a spot machine of that image with EKS's tags, got %+v", i)
			}
		}
	})
}

// Without known nodes, machines join and are drained in a usual time; where the simulator is strict it takes a role that
// may do what nodes do.
func TestNodesThatNobodyKnows(t *testing.T) {
	for _, strict := range []bool{false, true} {
		inWorld(t, aws.Options{Strict: strict}, func(t *testing.T, w *world) {
			a := aws.DefaultAccount()
			c := config(checked{w.server, w.t}, a.AccessKeyID, a.SecretAccessKey, "", aws.Region)
			ok(t, w.server.PutCluster(aws.AccountID, aws.EKSCluster{Name: eksName, Version: eksVersion}))
			n := &nodeWorld{world: w, eks: eks.NewFromConfig(c), iam: iam.NewFromConfig(c)}
			older, _ := n.releases()
			n.make("blue", func(in *eks.CreateNodegroupInput) { in.ReleaseVersion = &older })
			_, err := n.iam.CreateRole(t.Context(), &iam.CreateRoleInput{RoleName: awssdk.String("bare"),
				AssumeRolePolicyDocument: awssdk.String(trust("ec2.amazonaws.com"))})
			ok(t, err)
			after(time.Minute)
			_, err = n.eks.CreateNodegroup(t.Context(), n.input("bare", func(in *eks.CreateNodegroupInput) {
				in.NodeRole = awssdk.String("arn:aws:iam::" + aws.AccountID + ":role/bare")
			}))
			ok(t, err)
			want := ekstypes.NodegroupStatusActive
			if strict {
				want = ekstypes.NodegroupStatusCreateFailed
			}
			n.until("bare", want, 10*time.Minute)
			id := n.update("blue", nil)
			if u := n.ended("blue", id, 10*time.Minute); u.Status != ekstypes.UpdateStatusSuccessful {
				t.Errorf("want a success, got %s: %v", u.Status, u.Errors)
			}
		})
	}
}

// A simulator that is ended in the middle of an update goes on with it when it is begun again, and with the machines' cluster.
func TestNodegroupsSurvive(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		begin := func() *nodeWorld {
			n := &nodes{guests: guests{running: map[string]sim.Machine{}}, cordoned: map[string]bool{}, drained: map[string]int{},
				marks: map[string]sim.Marks{}}
			w := worldOf(t, aws.Options{Dir: dir, MachineHost: n})
			a := aws.DefaultAccount()
			as := config(checked{w.server, w.t}, a.AccessKeyID, a.SecretAccessKey, "", aws.Region)
			return &nodeWorld{world: w, eks: eks.NewFromConfig(as), nodes: n}
		}
		w := begin()
		ok(t, w.server.PutCluster(aws.AccountID, aws.EKSCluster{Name: eksName, Version: eksVersion, Token: "secret"}))
		older, _ := w.releases()
		w.make("blue", func(in *eks.CreateNodegroupInput) { in.ReleaseVersion = &older })
		id := w.update("blue", nil)
		for range 40 {
			w.close()
			w = begin()
			after(2 * time.Second)
		}
		if u := w.ended("blue", id, 10*time.Minute); u.Status != ekstypes.UpdateStatusSuccessful {
			t.Errorf("want a success, got %s: %v", u.Status, u.Errors)
		}
		after(time.Minute)
		n := w.nodegroup("blue")
		w.wantServing(w.behind(n), 2)
		for _, m := range w.nodes.machines() {
			if m.Managed == nil || m.Managed.Token != "secret" {
				t.Errorf("want machines that know their cluster, got %+v", m.Managed)
			}
		}
		w.close()
	})
}

// Faults are played on EKS as on others: a reply that is lost after the effect is found by its token, one that fails has no effect.
func TestNodegroupFaults(t *testing.T) {
	inNodeWorld(t, aws.Options{}, func(t *testing.T, w *nodeWorld) {
		for kind, code := range map[sim.FaultKind]string{sim.Throttle: "ThrottlingException", sim.ErrorBefore: "ServerException"} {
			ok(t, w.server.Faults().Add(sim.Fault{Kind: kind, Service: "eks", Action: "Create*", Resource: "blue", Times: 1}))
			_, err := w.eks.CreateNodegroup(t.Context(), w.input("blue"))
			wantCode(t, err, code)
			w.server.Faults().Clear()
			if got := w.server.State(aws.AccountID, aws.Region).Nodegroups; len(got) != 0 {
				t.Errorf("%s: want nothing made, got %v", kind, got)
			}
		}
		ok(t, w.server.Faults().Add(sim.Fault{Kind: sim.DropAfter, Service: "eks", Action: "CreateNodegroup", Times: 1}))
		in := w.input("blue", func(in *eks.CreateNodegroupInput) { in.ClientRequestToken = awssdk.String("once") })
		if _, err := w.eks.CreateNodegroup(t.Context(), in); err == nil {
			t.Error("want the reply lost")
		}
		again, err := w.eks.CreateNodegroup(t.Context(), in)
		ok(t, err)
		ok(t, w.server.Faults().Add(sim.Fault{Kind: sim.Stale, Service: "eks", Writes: 1, Times: 1}))
		_, err = w.eks.DescribeNodegroup(t.Context(), &eks.DescribeNodegroupInput{ClusterName: in.ClusterName, NodegroupName: in.NodegroupName})
		wantCode(t, err, "ResourceNotFoundException")
		if got := w.nodegroup("blue"); *got.NodegroupArn != *again.Nodegroup.NodegroupArn {
			t.Errorf("want the same node group for one token, got %s and %s", *got.NodegroupArn, *again.Nodegroup.NodegroupArn)
		}
		in.DiskSize = awssdk.Int32(50)
		_, err = w.eks.CreateNodegroup(t.Context(), in)
		wantCode(t, err, "InvalidRequestException")
		if n := w.server.Calls().Count("eks", "CreateNodegroup"); n != 5 {
			t.Errorf("want 5 calls counted, got %d", n)
		}
	})
}

// The owner of clusters registers them over HTTP; the token that admits nodes is never shown.
func TestClustersByHTTP(t *testing.T) {
	inNodeWorld(t, aws.Options{}, func(t *testing.T, w *nodeWorld) {
		body, err := json.Marshal(aws.EKSCluster{Region: aws.Region, Name: "west", Version: "v1.35.1", Endpoint: "https://10.0.0.1",
			CA: []byte("pem"), Token: "hidden"})
		ok(t, err)
		do := func(method, path string, body []byte) int {
			t.Helper()
			r, err := http.NewRequestWithContext(t.Context(), method, "http://simulated.aws/_sim/eks/clusters"+path, bytes.NewReader(body))
			ok(t, err)
			resp, err := sim.Transport{Handler: w.server}.RoundTrip(r)
			ok(t, err)
			ok(t, resp.Body.Close())
			return resp.StatusCode
		}
		if got := do(http.MethodPut, "", body); got != http.StatusNoContent {
			t.Fatalf("want it taken, got %d", got)
		}
		out, err := w.eks.DescribeCluster(t.Context(), &eks.DescribeClusterInput{Name: awssdk.String("west")})
		ok(t, err)
		shown, err := json.Marshal(out)
		ok(t, err)
		if c := out.Cluster; *c.Version != "1.35" || *c.Endpoint != "https://10.0.0.1" || *c.CertificateAuthority.Data != "cGVt" ||
			c.Status != ekstypes.ClusterStatusActive || strings.Contains(string(shown), "hidden") {
			t.Errorf("want the cluster as it was made known, without its token, got %s", shown)
		}
		w.make("blue")
		for _, c := range []struct {
			why, method, path string
			want              int
		}{
			{"a cluster with node groups stays", http.MethodDelete, "/" + eksName, http.StatusConflict},
			{"one without goes", http.MethodDelete, "/west?region=" + aws.Region, http.StatusNoContent},
			{"one that is gone is no error", http.MethodDelete, "/west", http.StatusNoContent},
			{"nothing is no cluster", http.MethodPut, "", http.StatusBadRequest},
			{"something is found wrong", http.MethodPost, "/" + eksName + "/nodegroups/blue/issue?code=AccessDenied&message=no",
				http.StatusNoContent},
			{"no update can fail where none is", http.MethodPost, "/" + eksName + "/nodegroups/blue/fail-update", http.StatusConflict},
			{"a hand that does not exist", http.MethodPost, "/" + eksName + "/nodegroups/blue/paint", http.StatusNotFound},
		} {
			if got := do(c.method, c.path, nil); got != c.want {
				t.Errorf("%s: want %d, got %d", c.why, c.want, got)
			}
		}
		if got := issues(w.nodegroup("blue")); got != "AccessDenied: no" {
			t.Errorf("want the issue, got %s", got)
		}
	})
}

// A cluster that is made by the API takes its time, and is updated one minor at a time.
func TestClusterLife(t *testing.T) {
	inNodeWorld(t, aws.Options{}, func(t *testing.T, w *nodeWorld) {
		ctx, name := t.Context(), awssdk.String("north")
		_, err := w.eks.CreateCluster(ctx, &eks.CreateClusterInput{
			Name: name, Version: awssdk.String("1.34"), RoleArn: awssdk.String("arn:aws:iam::" + aws.AccountID + ":role/" + aws.ClusterRole),
			ResourcesVpcConfig: &ekstypes.VpcConfigRequest{SubnetIds: []string{aws.SubnetID}}, Tags: map[string]string{"a": "b"},
		})
		ok(t, err)
		_, err = w.eks.CreateNodegroup(ctx, w.input("blue", func(in *eks.CreateNodegroupInput) { in.ClusterName = name }))
		wantCode(t, err, "InvalidRequestException")
		after(2 * time.Minute)
		got, err := w.eks.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: name})
		ok(t, err)
		if got.Cluster.Status != ekstypes.ClusterStatusActive || got.Cluster.Endpoint == nil || got.Cluster.Tags["a"] != "b" {
			t.Errorf("want it ACTIVE, got %s", got.Cluster.Status)
		}
		_, err = w.eks.UpdateClusterVersion(ctx, &eks.UpdateClusterVersionInput{Name: name, Version: awssdk.String("1.36")})
		wantCode(t, err, "InvalidParameterException")
		_, err = w.eks.UpdateClusterVersion(ctx, &eks.UpdateClusterVersionInput{Name: name, Version: awssdk.String("1.35")})
		ok(t, err)
		after(2 * time.Minute)
		_, err = w.eks.TagResource(ctx, &eks.TagResourceInput{ResourceArn: got.Cluster.Arn, Tags: map[string]string{"c": "d"}})
		ok(t, err)
		_, err = w.eks.UntagResource(ctx, &eks.UntagResourceInput{ResourceArn: got.Cluster.Arn, TagKeys: []string{"a", "x"}})
		ok(t, err)
		tags, err := w.eks.ListTagsForResource(ctx, &eks.ListTagsForResourceInput{ResourceArn: got.Cluster.Arn})
		ok(t, err)
		if got, err := w.eks.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: name}); err != nil || *got.Cluster.Version != "1.35" ||
			len(tags.Tags) != 1 || tags.Tags["c"] != "d" {
			t.Errorf("want 1.35 with one tag, got %v, %v, %v", *got.Cluster.Version, tags.Tags, err)
		}
		list, err := w.eks.ListClusters(ctx, &eks.ListClustersInput{MaxResults: awssdk.Int32(1)})
		ok(t, err)
		if len(list.Clusters) != 1 || list.NextToken == nil {
			t.Errorf("want a page of one and another, got %v", list.Clusters)
		}
		_, err = w.eks.DeleteCluster(ctx, &eks.DeleteClusterInput{Name: name})
		ok(t, err)
		after(time.Minute)
		_, err = w.eks.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: name})
		wantCode(t, err, "ResourceNotFoundException")
	})
}

// Access from afar opens a security group of its own, which goes with the node group; so do EKS's template and instance profile,
// which hold the role meanwhile.
func TestWhatComesWithANodegroup(t *testing.T) {
	inNodeWorld(t, aws.Options{Strict: true}, func(t *testing.T, w *nodeWorld) {
		ctx := t.Context()
		n := w.make("blue", func(in *eks.CreateNodegroupInput) {
			in.RemoteAccess = &ekstypes.RemoteAccessConfig{Ec2SshKey: awssdk.String(aws.KeyName)}
		})
		group := awssdk.ToString(n.Resources.RemoteAccessSecurityGroup)
		machine := w.server.State(aws.AccountID, aws.Region).Living()[0]
		described, err := w.ec2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{InstanceIds: []string{machine.ID}})
		ok(t, err)
		i := described.Reservations[0].Instances[0]
		if len(i.SecurityGroups) != 2 || *i.SecurityGroups[1].GroupId != group || *i.KeyName != aws.KeyName {
			t.Errorf("want the cluster's group, %s and the key, got %v, %v", group, i.SecurityGroups, i.KeyName)
		}
		arn := *i.IamInstanceProfile.Arn
		profile := awssdk.String(arn[strings.LastIndex(arn, "/")+1:])
		held, err := w.iam.GetInstanceProfile(ctx, &iam.GetInstanceProfileInput{InstanceProfileName: profile})
		ok(t, err)
		if *held.InstanceProfile.Roles[0].RoleName != aws.NodegroupRole {
			t.Errorf("want the node role in %s, got %v", *profile, held.InstanceProfile.Roles)
		}
		_, err = w.iam.DeleteRole(ctx, &iam.DeleteRoleInput{RoleName: awssdk.String(aws.NodegroupRole)})
		wantCode(t, err, "DeleteConflict")
		ok(t, w.server.DropRole(aws.NodegroupRole))
		after(time.Second)
		if got := issues(w.nodegroup("blue")); !strings.Contains(got, "IamNodeRoleNotFound") {
			t.Errorf("want the role missed, got %q", got)
		}
		_, err = w.eks.DeleteNodegroup(ctx, &eks.DeleteNodegroupInput{ClusterName: n.ClusterName, NodegroupName: n.NodegroupName})
		ok(t, err)
		after(2 * time.Minute)
		_, err = w.ec2.DescribeSecurityGroups(ctx, &ec2.DescribeSecurityGroupsInput{GroupIds: []string{group}})
		wantCode(t, err, "InvalidGroup.NotFound")
		_, err = w.iam.GetInstanceProfile(ctx, &iam.GetInstanceProfileInput{InstanceProfileName: profile})
		wantCode(t, err, "NoSuchEntity")
	})
}

// A strict simulator launches nothing with an instance profile that does not exist.
func TestProfilesOfLaunches(t *testing.T) {
	for _, c := range []struct {
		why, profile string
		strict       bool
		code         string
	}{
		{"one that exists", aws.NodeRole, true, ""},
		{"one that does not", "outsider", true, "InvalidParameterValue"},
		{"not asked", "outsider", false, ""},
	} {
		inWorld(t, aws.Options{Strict: c.strict}, func(t *testing.T, w *world) {
			_, err := w.ec2.RunInstances(t.Context(), &ec2.RunInstancesInput{
				ImageId: awssdk.String(w.image("1.34.1")), InstanceType: aws.InstanceType, SubnetId: awssdk.String(aws.SubnetID),
				MinCount: awssdk.Int32(1), MaxCount: awssdk.Int32(1),
				IamInstanceProfile: &types.IamInstanceProfileSpecification{Name: &c.profile},
			})
			if c.code == "" {
				ok(t, err)
				return
			}
			wantCode(t, err, c.code)
		})
	}
}
