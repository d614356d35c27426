package world

import (
	"context"
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
)

// busy reports whether the cloud is at work on the group by itself, for as long as that may take.
func (w *World) busy() bool {
	if time.Since(w.trace.began) > w.scenario.Ends+restMost {
		return false
	}
	if w.scenario.onAKS() {
		return w.account.atWork()
	}
	if s := w.account.scaleSet(); s != nil {
		return s.Busy
	}
	n := w.account.nodegroup()
	return n != nil && (n.Updating != "" || strings.HasSuffix(n.Status, "ING"))
}

// wantManaged is what a managed pool's objects ask for.
func (w *World) wantManaged(mp *clusterv1.MachinePool, o *infra) map[string]string {
	s := &o.managed.Spec
	want := map[string]string{
		"group": "1", "status": string(ekstypes.NodegroupStatusActive), "owner": w.owner().ID, "team": s.AdditionalTags["team"], "stage": s.AdditionalTags["stage"],
		"behind team": s.AdditionalTags["team"], "cluster": clusterName, "cordoned": "0", "stale": "0", "old": "0", "ready": "True", "pool": "Running",
		"tier": string(s.Labels["tier"]), "label team": string(s.Labels["team"]), "repair": strconv.FormatBool(repairs(s)),
	}
	if !s.OwnImage() {
		want["version"] = strings.TrimSuffix(strings.TrimPrefix(mp.Spec.Template.Spec.Version, "v"), ".0")
	}
	var taints []string
	for _, t := range s.Taints {
		taints = append(taints, t.Key+"="+t.Value)
	}
	want["taints"] = strings.Join(taints, ",")
	switch c := s.UpdateConfig; {
	case c == nil:
	case c.MaxUnavailable != nil:
		want["unavailable"] = strconv.Itoa(*c.MaxUnavailable)
	case c.MaxUnavailablePercentage != nil:
		want["unavailable"] = strconv.Itoa(*c.MaxUnavailablePercentage) + "%"
	}
	if c := s.Scaling; c != nil && c.MinSize != nil {
		want["min"] = itoa(c.MinSize)
	}
	if c := s.Scaling; c != nil && c.MaxSize != nil {
		want["max"] = itoa(c.MaxSize)
	}
	w.wantTemplate(s.AWSLaunchTemplate, want)
	for what, by := range w.account.notes {
		want[what] = by
	}
	size := itoa(ptr.To(ptr.Deref(mp.Spec.Replicas, 1)))
	for _, name := range []string{"size", "in service", "joined", "ready nodes", "pool ready nodes", "pool replicas"} {
		want[name] = size
	}
	return want
}

func repairs(s *awsv1.AWSManagedMachinePoolSpec) bool {
	return s.NodeRepairConfig != nil && s.NodeRepairConfig.Enabled != nil && *s.NodeRepairConfig.Enabled
}

func (w *World) wantTemplate(t *awsv1.AWSLaunchTemplate, want map[string]string) {
	switch {
	case t == nil:
		want["templates"] = "0"
	case t.Existing != nil:
		want["templates"], want["type"] = "0", broughtTypes[t.Existing.Version-1]
	default:
		want["templates"], want["type"], want["spare versions"], want["root"], want["token"], want["default"] = "1", t.InstanceType, "0", "0", "good", "in use"
		if t.RootVolume != nil {
			want["root"] = strconv.Itoa(int(t.RootVolume.Size))
		}
	}
}

// isManaged says what there is of a managed pool.
func (w *World) isManaged() map[string]string {
	is := map[string]string{"group": "0"}
	n := w.account.nodegroup()
	if n == nil {
		return is
	}
	is["group"], is["status"], is["version"], is["min"], is["max"] = "1", n.Status, n.Version, strconv.Itoa(n.Min), strconv.Itoa(n.Max)
	is["owner"], is["team"], is["stage"], is["cluster"] = n.Tags[tagOwner], n.Tags["team"], n.Tags["stage"], n.Tags["muster.dev/cluster"]
	is["tier"], is["label team"] = n.Labels["tier"], n.Labels["team"]
	is["label theirs"], is["tag theirs"] = n.Labels[theirs], n.Tags[theirs]
	is["issues"] = strings.Join(n.Issues, ",")
	inService := 0
	if g := w.account.behind(n); g != nil {
		is["size"], is["behind team"] = strconv.Itoa(g.Desired), g.Tags["team"]
		for _, m := range g.Members {
			if m.State == "InService" {
				inService++
			}
		}
	}
	stale, old := w.left()
	joined, cordoned := w.workload.counts()
	is["stale"], is["old"] = strconv.Itoa(stale), strconv.Itoa(old)
	is["in service"], is["joined"], is["cordoned"] = strconv.Itoa(inService), strconv.Itoa(joined), strconv.Itoa(cordoned)
	w.isShown(n, is)
	w.isSource(n, is)
	w.told(is)
	return is
}

// isShown is what EKS alone shows of a node group.
func (w *World) isShown(n *nodegroup, is map[string]string) {
	found, err := w.account.byHandEKS.DescribeNodegroup(context.Background(), &eks.DescribeNodegroupInput{ClusterName: &n.Cluster, NodegroupName: &n.Name})
	if err != nil {
		return
	}
	shown := found.Nodegroup
	var taints []string
	for _, t := range shown.Taints {
		taints = append(taints, deref(t.Key)+"="+deref(t.Value))
	}
	is["taints"] = strings.Join(taints, ",")
	is["repair"] = strconv.FormatBool(shown.NodeRepairConfig != nil && shown.NodeRepairConfig.Enabled != nil && *shown.NodeRepairConfig.Enabled)
	if c := shown.UpdateConfig; c != nil && c.MaxUnavailable != nil {
		is["unavailable"] = itoa(c.MaxUnavailable)
	} else if c != nil && c.MaxUnavailablePercentage != nil {
		is["unavailable"] = itoa(c.MaxUnavailablePercentage) + "%"
	}
}

// isSource says what the node group's launch template makes.
func (w *World) isSource(n *nodegroup, is map[string]string) {
	templates := 0
	for _, t := range w.account.snapshot().Templates {
		if t.Owner == w.owner().ID {
			templates++
		}
	}
	is["templates"], is["root"] = strconv.Itoa(templates), "0"
	w.isHistory(is)
	if n.Source == "" {
		return
	}
	found, err := w.account.byHandEC2.DescribeLaunchTemplateVersions(context.Background(), &ec2.DescribeLaunchTemplateVersionsInput{
		LaunchTemplateId: &n.Source, Versions: []string{n.SourceVersion},
	})
	if err != nil || len(found.LaunchTemplateVersions) != 1 {
		return
	}
	data := found.LaunchTemplateVersions[0].LaunchTemplateData
	is["type"] = string(data.InstanceType)
	for _, v := range data.BlockDeviceMappings {
		is["root"] = itoa(v.Ebs.VolumeSize)
	}
	is["token"] = "bad"
	text, err := base64.StdEncoding.DecodeString(deref(data.UserData))
	if token := tokenIn.FindSubmatch(text); err == nil && token != nil && w.workload.good(string(token[1])) {
		is["token"] = "good"
	}
}
