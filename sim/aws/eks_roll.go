package aws

import (
	"cmp"
	"slices"
	"time"

	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/aws/shapes/eks"
)

// The phases of an update of the version, as "Understand each phase of node updates" has them.
const (
	rollSetUp     = "set up"
	rollScaleUp   = "scale up"
	rollUpgrade   = "upgrade"
	rollScaleDown = "scale down"
)

const (
	// lifeEviction is how long the pods of a node have to leave it.
	lifeEviction = 15 * time.Minute
	// lifeCool is how long a node that is drained is waited for.
	lifeCool = time.Minute
)

func (r *realm) updateNodegroupVersion(in *eks.UpdateNodegroupVersionInput) (*eks.UpdateNodegroupVersionOutput, error) {
	id, err := r.once("UpdateNodegroupVersion", str(in.ClientRequestToken), in, func() (string, error) {
		n, err := r.updatable(in.ClusterName, in.NodegroupName)
		if err != nil {
			return "", err
		}
		facts, err := r.nextFacts(n, in)
		if err != nil {
			return "", err
		}
		u := r.newUpdate(n.cluster(), n.name(), versionUpdate, versionParams(facts))
		s := n.Shape.ScalingConfig
		n.Roll = &nodeRoll{
			Phase: rollSetUp, From: r.present(n), Min: *s.MinSize, Max: *s.MaxSize, Desired: *s.DesiredSize, Force: in.Force,
			Cooling: map[string]time.Time{}, Goal: facts,
		}
		if g := r.groups.Get(n.Behind); g != nil {
			n.Roll.Desired = *g.Spec.DesiredCapacity
		}
		n.Update, n.Next = u.Number, r.now.Add(r.life(lifeProvision))
		n.Shape.Status, n.Shape.ModifiedAt = eksUpdating, shapes.NewEpoch(r.now)
		r.touchNodegroup(n)
		return updateKey(n.cluster(), n.name(), u.Number), nil
	})
	if err != nil {
		return nil, eksToken(err)
	}
	return &eks.UpdateNodegroupVersionOutput{Update: r.showUpdate(id)}, nil
}

func versionParams(f nodeFacts) []eks.UpdateParam {
	var out []eks.UpdateParam
	for _, p := range []struct{ kind, value string }{
		{"LaunchTemplateName", f.Source}, {"LaunchTemplateVersion", f.SourceVersion}, {"ReleaseVersion", f.Release}, {"Version", f.Version},
	} {
		if p.value != "" {
			out = append(out, eks.UpdateParam{Type: p.kind, Value: ptr(p.value)})
		}
	}
	return out
}

// nextFacts are what machines shall be after an update, as it was asked for and as EKS completes it.
func (r *realm) nextFacts(n *nodegroup, in *eks.UpdateNodegroupVersionInput) (nodeFacts, error) {
	now := n.Launched[r.present(n)]
	facts := nodeFacts{Source: now.Source, SourceVersion: now.SourceVersion}
	if in.LaunchTemplate != nil {
		if now.Source == "" {
			return facts, refuse("InvalidRequestException", "You cannot update a node group with a launch template when it was not created with one.")
		}
		v, err := r.sourceVersion(in.LaunchTemplate)
		if err != nil {
			return facts, err
		}
		if v.Template != now.Source {
			return facts, refuse("InvalidRequestException", "You cannot specify a launch template other than the one that the node group was created with, %s.", now.Source)
		}
		facts.SourceVersion = itoa(v.Number)
	}
	if facts.Source != "" {
		if err := r.ownImage(n, in, &facts); err != nil || facts.Own {
			return facts, err
		}
	}
	if n.Shape.AmiType == amiCustom {
		return facts, refuse("InvalidRequestException", "You cannot change from a custom AMI to an image of Amazon EKS.")
	}
	// "You can update to the latest available AMI version of a node group's current Kubernetes version by not specifying a
	// Kubernetes version in the request."
	facts.Version = cmp.Or(str(in.Version), now.Version)
	if err := checkStep(now.Version, facts.Version, str(r.clusters.Get(n.cluster()).Shape.Version)); err != nil {
		return facts, err
	}
	return facts, r.chooseRelease(n, in, &facts, now)
}

// ownImage reads the image out of the template, and refuses what must not be beside one that is the user's own.
func (r *realm) ownImage(n *nodegroup, in *eks.UpdateNodegroupVersionInput, facts *nodeFacts) error {
	v := r.versions.Get(versionKey(facts.Source, int64(atoi(facts.SourceVersion))))
	if v == nil {
		return refuse("InvalidRequestException", "The launch template %s has no version %s.", facts.Source, facts.SourceVersion)
	}
	if err := r.checkSourceData(v); err != nil {
		return err
	}
	if v.Data.InstanceType != "" && len(n.Shape.InstanceTypes) > 0 {
		return badParameter("Instance types in the launch template and the node group cannot both be specified.")
	}
	if v.Data.ImageId == nil {
		return nil
	}
	switch {
	case n.Shape.AmiType != amiCustom:
		return refuse("InvalidRequestException", "You cannot specify an image id in the launch template of a node group of AMI type %s.", n.Shape.AmiType)
	case str(in.Version) != "":
		return badParameter("You cannot specify the field version when using custom AMIs.")
	case str(in.ReleaseVersion) != "":
		return badParameter("You cannot specify the field releaseVersion when using custom AMIs.")
	}
	facts.Own, facts.Image, facts.Release = true, *v.Data.ImageId, *v.Data.ImageId
	return nil
}

// checkStep refuses a Kubernetes version that the node group cannot go to: back, beyond the control plane, or over one.
func checkStep(from, to, control string) error {
	switch a, b := minorOf(from), minorOf(to); {
	case b < 0:
		return badParameter("unsupported Kubernetes version")
	case b < a:
		return badParameter("Nodegroup Kubernetes version %s cannot be downgraded to %s", from, to)
	case b > a+1:
		return badParameter("Nodegroup Kubernetes version %s can only be updated to the next minor version, not to %s", from, to)
	case b > minorOf(control):
		return badParameter("Nodegroup Kubernetes version %s is greater than that of the cluster, %s", to, control)
	}
	return nil
}

// chooseRelease completes the release, which never goes back.
func (r *realm) chooseRelease(n *nodegroup, in *eks.UpdateNodegroupVersionInput, facts *nodeFacts, now nodeFacts) error {
	releases := releasesOf(minorOf(facts.Version))
	facts.Release = cmp.Or(str(in.ReleaseVersion), releases[len(releases)-1])
	if err := checkRelease(n.Shape.AmiType, facts.Version, facts.Release); err != nil {
		return err
	}
	if facts.Version == now.Version && slices.Index(releases, facts.Release) < slices.Index(releases, now.Release) {
		return badParameter("Requested Nodegroup release version %s is invalid. The release version cannot be older than %s", facts.Release, now.Release)
	}
	facts.Image = r.eksImage(n.Shape.AmiType, facts.Version, facts.Release)
	return nil
}
