package aws_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/aws"
)

// releases are the release that the simulated EKS recommends for eksVersion, and the one before it.
func (w *nodeWorld) releases() (older, newest string) {
	w.t.Helper()
	n := w.make("probe", func(in *eks.CreateNodegroupInput) {
		in.ScalingConfig = &ekstypes.NodegroupScalingConfig{MinSize: awssdk.Int32(0), MaxSize: awssdk.Int32(1), DesiredSize: awssdk.Int32(0)}
	})
	newest = *n.ReleaseVersion
	_, err := w.eks.DeleteNodegroup(w.t.Context(), &eks.DeleteNodegroupInput{ClusterName: n.ClusterName, NodegroupName: n.NodegroupName})
	ok(w.t, err)
	after(time.Minute)
	day, err := time.Parse("20060102", newest[strings.Index(newest, "-")+1:])
	ok(w.t, err)
	return "1.33.9-" + day.AddDate(0, -1, 0).Format("20060102"), newest
}

// update begins an update of the version.
func (w *nodeWorld) update(name string, change func(*eks.UpdateNodegroupVersionInput)) string {
	w.t.Helper()
	in := &eks.UpdateNodegroupVersionInput{ClusterName: awssdk.String(eksName), NodegroupName: &name}
	if change != nil {
		change(in)
	}
	out, err := w.eks.UpdateNodegroupVersion(w.t.Context(), in)
	ok(w.t, err)
	return *out.Update.Id
}

// ended waits for the end of an update.
func (w *nodeWorld) ended(name, id string, limit time.Duration) *ekstypes.Update {
	w.t.Helper()
	for end := time.Now().Add(limit); ; after(500 * time.Millisecond) {
		out, err := w.eks.DescribeUpdate(w.t.Context(), &eks.DescribeUpdateInput{Name: awssdk.String(eksName), NodegroupName: &name,
			UpdateId: &id})
		ok(w.t, err)
		if out.Update.Status != ekstypes.UpdateStatusInProgress {
			return out.Update
		}
		if time.Now().After(end) {
			w.t.Fatalf("update %s of %s: want an end within %s, group is %s", id, name, limit, states(w.read(w.behind(w.nodegroup(name)))))
		}
	}
}

// An update of the configuration takes a while, lets nothing else begin, and reaches the nodes that are there.
func TestConfigUpdate(t *testing.T) {
	inNodeWorld(t, aws.Options{}, func(t *testing.T, w *nodeWorld) {
		ctx, n := t.Context(), w.make("blue")
		in := &eks.UpdateNodegroupConfigInput{
			ClusterName: n.ClusterName, NodegroupName: n.NodegroupName, ClientRequestToken: awssdk.String("once"),
			ScalingConfig: &ekstypes.NodegroupScalingConfig{DesiredSize: awssdk.Int32(3)},
			Labels:        &ekstypes.UpdateLabelsPayload{AddOrUpdateLabels: map[string]string{"zone": "x"}, RemoveLabels: []string{"tier"}},
			Taints:        &ekstypes.UpdateTaintsPayload{RemoveTaints: n.Taints},
		}
		out, err := w.eks.UpdateNodegroupConfig(ctx, in)
		ok(t, err)
		again, err := w.eks.UpdateNodegroupConfig(ctx, in)
		ok(t, err)
		if *again.Update.Id != *out.Update.Id || out.Update.Type != ekstypes.UpdateTypeConfigUpdate {
			t.Errorf("want one update for one token, got %s and %s", *out.Update.Id, *again.Update.Id)
		}
		if got := w.nodegroup("blue"); got.Status != ekstypes.NodegroupStatusUpdating || *got.ScalingConfig.DesiredSize != 2 {
			t.Errorf("want it UPDATING and as before, got %s with %d", got.Status, *got.ScalingConfig.DesiredSize)
		}
		_, err = w.eks.UpdateNodegroupVersion(ctx, &eks.UpdateNodegroupVersionInput{ClusterName: n.ClusterName, NodegroupName: n.NodegroupName})
		wantCode(t, err, "ResourceInUseException")
		_, err = w.eks.DeleteNodegroup(ctx, &eks.DeleteNodegroupInput{ClusterName: n.ClusterName, NodegroupName: n.NodegroupName})
		wantCode(t, err, "ResourceInUseException")
		if u := w.ended("blue", *out.Update.Id, time.Minute); u.Status != ekstypes.UpdateStatusSuccessful {
			t.Errorf("want a success, got %s: %v", u.Status, u.Errors)
		}
		after(10 * time.Second)
		got := w.nodegroup("blue")
		if got.Status != ekstypes.NodegroupStatusActive || got.Labels["zone"] != "x" || len(got.Labels) != 1 || len(got.Taints) != 0 ||
			*got.ScalingConfig.DesiredSize != 3 {
			t.Errorf("want all of the change, got %s, %v, %v, %d", got.Status, got.Labels, got.Taints, *got.ScalingConfig.DesiredSize)
		}
		w.wantServing(w.behind(got), 3)
		for id, marks := range w.nodes.changes() {
			if marks.Labels["zone"] != "x" || !slices.Equal(marks.Unlabel, []string{"tier"}) || len(marks.Untaint) != 1 ||
				marks.Untaint[0].Effect != "NoSchedule" {
				t.Errorf("want node %s relabelled, got %+v", id, marks)
			}
		}
		if len(w.nodes.changes()) != 2 {
			t.Errorf("want the two nodes from before relabelled, got %d", len(w.nodes.changes()))
		}
	})
}

// A version goes up by one, node by node: new ones come first, old ones are drained before they go.
func TestVersionUpdate(t *testing.T) {
	for _, strategy := range []ekstypes.NodegroupUpdateStrategies{ekstypes.NodegroupUpdateStrategiesDefault,
		ekstypes.NodegroupUpdateStrategiesMinimal} {
		if testing.Short() && strategy != ekstypes.NodegroupUpdateStrategiesDefault {
			continue
		}
		t.Run(string(strategy), func(t *testing.T) {
			inNodeWorld(t, aws.Options{Limits: aws.Limits{}}, func(t *testing.T, w *nodeWorld) {
				n := w.make("blue", func(in *eks.CreateNodegroupInput) {
					in.UpdateConfig = &ekstypes.NodegroupUpdateConfig{MaxUnavailable: awssdk.Int32(1), UpdateStrategy: strategy}
				})
				name := w.behind(n)
				before := w.inState(name, "InService")
				ok(t, w.server.PutCluster(aws.AccountID, aws.EKSCluster{Name: eksName, Version: "1.34", Token: "abcdef.0123456789abcdef"}))
				id := w.update("blue", func(in *eks.UpdateNodegroupVersionInput) { in.Version = awssdk.String("1.34") })
				most, least := 0, 99
				for w.nodegroup("blue").Status == ekstypes.NodegroupStatusUpdating {
					g := w.read(name)
					leaving := len(w.inState(name, "Terminating")) + len(w.inState(name, "Terminating:Wait"))
					most, least = max(most, len(g.Instances)-leaving), min(least, len(w.inState(name, "InService")))
					after(200 * time.Millisecond)
				}
				if u := w.ended("blue", id, time.Minute); u.Status != ekstypes.UpdateStatusSuccessful {
					t.Fatalf("want a success, got %s: %v", u.Status, u.Errors)
				}
				got := w.nodegroup("blue")
				if *got.Version != "1.34" || !strings.HasPrefix(*got.ReleaseVersion, "1.34.") || *got.ScalingConfig.DesiredSize != 2 ||
					*got.ScalingConfig.MaxSize != 4 {
					t.Errorf("want 1.34 and the size from before, got %s, %s, %d of %d", *got.Version, *got.ReleaseVersion, *got.ScalingConfig.DesiredSize,
						*got.ScalingConfig.MaxSize)
				}
				after(time.Minute)
				w.wantServing(name, 2)
				for _, i := range w.read(name).Instances {
					if slices.Contains(before, *i.InstanceId) || w.nodes.machines()[*i.InstanceId].KubeletVersion != "v1.34.10" {
						t.Errorf("want new nodes of 1.34, got %s with %s", *i.InstanceId, w.nodes.machines()[*i.InstanceId].KubeletVersion)
					}
				}
				for _, i := range before {
					if w.nodes.drains()[i] == 0 || !w.nodes.closed(i) {
						t.Errorf("want %s cordoned and drained", i)
					}
				}
				if strategy == ekstypes.NodegroupUpdateStrategiesMinimal && (most > 2 || least < 1) ||
					strategy == ekstypes.NodegroupUpdateStrategiesDefault && (most < 8 || least < 2) {
					t.Errorf("%s: between %d and %d served", strategy, least, most)
				}
			})
		})
	}
}

// A template's version comes to the nodes with what EKS adds to it.
func TestTemplateUpdate(t *testing.T) {
	inNodeWorld(t, aws.Options{}, func(t *testing.T, w *nodeWorld) {
		id := w.source("mine", &types.RequestLaunchTemplateData{InstanceType: "m5.large"})
		n := w.make("blue", with(id, "1"))
		if *n.LaunchTemplate.Version != "1" || n.DiskSize != nil || len(n.InstanceTypes) != 0 {
			t.Errorf("want what the template says left to it, got %+v, %v, %v", n.LaunchTemplate, n.DiskSize, n.InstanceTypes)
		}
		w.version(id, &types.RequestLaunchTemplateData{InstanceType: "m5.xlarge"})
		u := w.update("blue", func(in *eks.UpdateNodegroupVersionInput) {
			in.LaunchTemplate = &ekstypes.LaunchTemplateSpecification{Id: &id, Version: awssdk.String("2")}
			in.ReleaseVersion = n.ReleaseVersion
		})
		w.ended("blue", u, 20*time.Minute)
		got := w.nodegroup("blue")
		if *got.LaunchTemplate.Version != "2" || *got.ReleaseVersion != *n.ReleaseVersion {
			t.Errorf("want version 2 and the same release, got %s and %s", *got.LaunchTemplate.Version, *got.ReleaseVersion)
		}
		for _, i := range w.read(w.behind(got)).Instances {
			m := w.nodes.machines()[*i.InstanceId]
			if m.Type != "m5.xlarge" || m.Managed.Labels["eks.amazonaws.com/sourceLaunchTemplateVersion"] != "2" ||
				m.Managed.Labels["eks.amazonaws.com/sourceLaunchTemplateId"] != id {
				t.Errorf("want a node of version 2, got %s with %v", m.Type, m.Managed.Labels)
			}
		}
		before := w.inState(w.behind(got), "InService")
		same := w.update("blue", func(in *eks.UpdateNodegroupVersionInput) {
			in.LaunchTemplate = &ekstypes.LaunchTemplateSpecification{Id: &id, Version: awssdk.String("2")}
			in.ReleaseVersion = n.ReleaseVersion
		})
		w.ended("blue", same, time.Minute)
		if after := w.inState(w.behind(got), "InService"); !slices.Equal(before, after) {
			t.Errorf("want no machine replaced by an update to what is there, got %v for %v", after, before)
		}
		list, err := w.eks.ListUpdates(t.Context(), &eks.ListUpdatesInput{Name: awssdk.String(eksName), NodegroupName: awssdk.String("blue")})
		ok(t, err)
		if !slices.Equal(list.UpdateIds, []string{same, u}) {
			t.Errorf("want both, the newest first, got %v", list.UpdateIds)
		}
		_, err = w.eks.CancelUpdate(t.Context(), &eks.CancelUpdateInput{Name: awssdk.String(eksName), UpdateId: &u})
		wantCode(t, err, "InvalidRequestException")
	})
}

// An update that cannot go on fails in EKS's words, and the node group is as it was.
func TestVersionUpdateFails(t *testing.T) {
	for _, c := range []struct {
		why   string
		begin func(*nodeWorld)
		force bool
		want  ekstypes.ErrorCode
	}{
		{"pods do not leave", func(w *nodeWorld) { w.nodes.set(func() { w.nodes.stubborn = true }) }, false,
			ekstypes.ErrorCodePodEvictionFailure},
		{"pods do not leave, and are made to", func(w *nodeWorld) { w.nodes.set(func() { w.nodes.stubborn = true }) }, true, ""},
		{"new nodes do not join", func(w *nodeWorld) { w.nodes.set(func() { w.nodes.silent = true }) }, false,
			ekstypes.ErrorCodeNodeCreationFailure},
		{"there is no capacity", func(w *nodeWorld) { ok(w.t, w.server.Faults().Add(sim.Fault{Kind: sim.NoCapacity})) }, false,
			ekstypes.ErrorCodeNodeCreationFailure},
		{"a user lets it fail", func(w *nodeWorld) { after(5 * time.Second); ok(w.t, w.server.FailUpdate(eksName, "blue")) }, false,
			ekstypes.ErrorCodeNodeCreationFailure},
	} {
		t.Run(c.why, func(t *testing.T) {
			inNodeWorld(t, aws.Options{}, func(t *testing.T, w *nodeWorld) {
				older, newest := w.releases()
				n := w.make("blue", func(in *eks.CreateNodegroupInput) { in.ReleaseVersion = &older })
				before := w.inState(w.behind(n), "InService")
				id := w.update("blue", func(in *eks.UpdateNodegroupVersionInput) { in.ReleaseVersion, in.Force = &newest, c.force })
				c.begin(w)
				u := w.ended("blue", id, 10*time.Minute)
				if c.want == "" {
					if u.Status != ekstypes.UpdateStatusSuccessful {
						t.Errorf("want a success, got %s: %+v", u.Status, u.Errors)
					}
					return
				}
				if u.Status != ekstypes.UpdateStatusFailed || len(u.Errors) != 1 || u.Errors[0].ErrorCode != c.want {
					t.Fatalf("want a failure by %s, got %s: %+v", c.want, u.Status, u.Errors)
				}
				w.server.Faults().Clear()
				w.nodes.set(func() { w.nodes.silent, w.nodes.stubborn = false, false })
				after(5 * time.Minute)
				got := w.nodegroup("blue")
				if got.Status != ekstypes.NodegroupStatusActive || *got.ReleaseVersion != older || *got.ScalingConfig.DesiredSize != 2 {
					t.Errorf("want it ACTIVE as before, got %s, %s, %d: %s", got.Status, *got.ReleaseVersion, *got.ScalingConfig.DesiredSize, issues(got))
				}
				w.wantServing(w.behind(got), 2)
				for _, i := range before {
					if w.nodes.closed(i) && slices.Contains(w.inState(w.behind(got), "InService"), i) {
						t.Errorf("want %s to take pods again", i)
					}
				}
			})
		})
	}
}

func TestVersionUpdatesThatAreRefused(t *testing.T) {
	inNodeWorld(t, aws.Options{}, func(t *testing.T, w *nodeWorld) {
		id, other := w.source("mine", &types.RequestLaunchTemplateData{KeyName: awssdk.String(aws.KeyName)}),
			w.source("other", &types.RequestLaunchTemplateData{KeyName: awssdk.String(aws.KeyName)})
		w.version(id, &types.RequestLaunchTemplateData{ImageId: awssdk.String(w.image("1.33.1"))})
		w.make("plain")
		w.make("templated", with(id, "1"))
		ok(t, w.server.PutCluster(aws.AccountID, aws.EKSCluster{Name: eksName, Version: "1.36"}))
		for _, c := range []struct {
			why, group, code string
			change           func(*eks.UpdateNodegroupVersionInput)
		}{
			{"back", "plain", "InvalidParameterException", func(in *eks.UpdateNodegroupVersionInput) { in.Version = awssdk.String("1.32") }},
			{"over one", "plain", "InvalidParameterException", func(in *eks.UpdateNodegroupVersionInput) { in.Version = awssdk.String("1.35") }},
			{"beyond all", "plain", "InvalidParameterException", func(in *eks.UpdateNodegroupVersionInput) { in.Version = awssdk.String("1.99") }},
			{"a release of another version", "plain", "InvalidParameterException",
				func(in *eks.UpdateNodegroupVersionInput) { in.ReleaseVersion = awssdk.String("1.34.10-20250918") }},
			{"a template for a group without one", "plain", "InvalidRequestException", func(in *eks.UpdateNodegroupVersionInput) {
				in.LaunchTemplate = &ekstypes.LaunchTemplateSpecification{Id: &id}
			}},
			{"another template", "templated", "InvalidRequestException", func(in *eks.UpdateNodegroupVersionInput) {
				in.LaunchTemplate = &ekstypes.LaunchTemplateSpecification{Id: &other}
			}},
			{"a version that does not exist", "templated", "InvalidRequestException", func(in *eks.UpdateNodegroupVersionInput) {
				in.LaunchTemplate = &ekstypes.LaunchTemplateSpecification{Id: &id, Version: awssdk.String("9")}
			}},
			{"an image of one's own in a group of EKS's", "templated", "InvalidRequestException", func(in *eks.UpdateNodegroupVersionInput) {
				in.LaunchTemplate = &ekstypes.LaunchTemplateSpecification{Id: &id, Version: awssdk.String("2")}
			}},
			{"a group that does not exist", "none", "ResourceNotFoundException", func(*eks.UpdateNodegroupVersionInput) {}},
		} {
			in := &eks.UpdateNodegroupVersionInput{ClusterName: awssdk.String(eksName), NodegroupName: awssdk.String(c.group)}
			c.change(in)
			_, err := w.eks.UpdateNodegroupVersion(t.Context(), in)
			if err == nil {
				t.Errorf("%s: want it refused", c.why)
				continue
			}
			wantCode(t, err, c.code)
		}
	})
}

// What a user does to the group behind is seen: its size is shown, its loss makes the node group degraded.
func TestGroupBehindChangedByHand(t *testing.T) {
	inNodeWorld(t, aws.Options{}, func(t *testing.T, w *nodeWorld) {
		ctx, n := t.Context(), w.make("blue")
		name := w.behind(n)
		_, err := w.as.TerminateInstanceInAutoScalingGroup(ctx, &autoscaling.TerminateInstanceInAutoScalingGroupInput{
			InstanceId: awssdk.String(w.inState(name, "InService")[0]), ShouldDecrementDesiredCapacity: awssdk.Bool(true),
		})
		ok(t, err)
		if got := *w.nodegroup("blue").ScalingConfig.DesiredSize; got != 1 {
			t.Errorf("want the size of the group shown, got %d", got)
		}
		after(time.Minute)
		w.wantServing(name, 1)
		if len(w.nodes.drains()) != 1 {
			t.Errorf("want it drained by EKS as well, got %v", w.nodes.drains())
		}
		// Bounds alone leave the size that a user gave it.
		_, err = w.eks.UpdateNodegroupConfig(ctx, &eks.UpdateNodegroupConfigInput{
			ClusterName: n.ClusterName, NodegroupName: n.NodegroupName,
			ScalingConfig: &ekstypes.NodegroupScalingConfig{MinSize: awssdk.Int32(0), MaxSize: awssdk.Int32(1)},
		})
		ok(t, err)
		after(10 * time.Second)
		if got := w.nodegroup("blue").ScalingConfig; *got.DesiredSize != 1 || *got.MaxSize != 1 {
			t.Errorf("want 1 of 1, got %d of %d", *got.DesiredSize, *got.MaxSize)
		}
		ok(t, w.server.SetIssue(eksName, "blue", "InsufficientFreeAddresses", "no address"))
		if got := w.nodegroup("blue"); got.Status != ekstypes.NodegroupStatusDegraded || issues(got) != "InsufficientFreeAddresses: no address" {
			t.Errorf("want it DEGRADED with the issue, got %s: %s", got.Status, issues(got))
		}
		_, err = w.eks.UpdateNodegroupConfig(ctx, &eks.UpdateNodegroupConfigInput{ClusterName: n.ClusterName, NodegroupName: n.NodegroupName,
			ScalingConfig: &ekstypes.NodegroupScalingConfig{MaxSize: awssdk.Int32(2), DesiredSize: awssdk.Int32(2)}})
		ok(t, err)
		after(time.Minute)
		ok(t, w.server.ClearIssues(eksName, "blue"))
		if got := w.nodegroup("blue"); got.Status != ekstypes.NodegroupStatusActive || *got.ScalingConfig.DesiredSize != 2 {
			t.Errorf("want it ACTIVE and changed, got %s with %d", got.Status, *got.ScalingConfig.DesiredSize)
		}
		_, err = w.as.DeleteAutoScalingGroup(ctx, &autoscaling.DeleteAutoScalingGroupInput{AutoScalingGroupName: &name,
			ForceDelete: awssdk.Bool(true)})
		ok(t, err)
		after(time.Minute)
		if got := w.nodegroup("blue"); got.Status != ekstypes.NodegroupStatusDegraded ||
			!strings.HasPrefix(issues(got), "AutoScalingGroupNotFound") {
			t.Errorf("want it DEGRADED without its group, got %s: %s", got.Status, issues(got))
		}
		ok(t, w.server.StickDeletion(eksName, "blue", "Ec2SecurityGroupDeletionFailure"))
		_, err = w.eks.DeleteNodegroup(ctx, &eks.DeleteNodegroupInput{ClusterName: n.ClusterName, NodegroupName: n.NodegroupName})
		ok(t, err)
		w.until("blue", ekstypes.NodegroupStatusDeleteFailed, time.Minute)
		ok(t, w.server.ClearIssues(eksName, "blue"))
		_, err = w.eks.DeleteNodegroup(ctx, &eks.DeleteNodegroupInput{ClusterName: n.ClusterName, NodegroupName: n.NodegroupName})
		ok(t, err)
		after(time.Minute)
		_, err = w.eks.DescribeNodegroup(ctx, &eks.DescribeNodegroupInput{ClusterName: n.ClusterName, NodegroupName: n.NodegroupName})
		wantCode(t, err, "ResourceNotFoundException")
	})
}
