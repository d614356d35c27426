package eks

import (
	"cmp"
	"slices"
	"time"

	"github.com/muster-project/muster/sim/aws/catalogue"
	"github.com/muster-project/muster/sim/aws/ec2"
	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/aws/shapes/eks"
	"github.com/muster-project/muster/sim/aws/wire"
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

func (r *Updates) updateNodegroupVersion(in *eks.UpdateNodegroupVersionInput) (*eks.UpdateNodegroupVersionOutput, error) {
	id, err := r.Once("UpdateNodegroupVersion", shapes.Str(in.ClientRequestToken), in, func() (string, error) {
		n, err := r.updatable(in.ClusterName, in.NodegroupName)
		if err != nil {
			return "", err
		}
		facts, err := r.nextFacts(n, in)
		if err != nil {
			return "", err
		}
		u := r.newUpdate(n.Cluster(), n.Name(), versionUpdate, versionParams(facts))
		s := n.Shape.ScalingConfig
		n.Roll = &nodeRoll{
			Phase: rollSetUp, From: r.Backing.present(n), Min: *s.MinSize, Max: *s.MaxSize, Desired: *s.DesiredSize, Force: in.Force,
			Cooling: map[string]time.Time{}, Goal: facts,
		}
		if g := r.AutoScaling.Groups.Rows.Get(n.Behind); g != nil {
			n.Roll.Desired = *g.Spec.DesiredCapacity
		}
		n.Update, n.Next = u.Number, r.Now.Add(r.Life(lifeProvision))
		n.Shape.Status, n.Shape.ModifiedAt = StatusUpdating, shapes.NewEpoch(r.Now)
		r.Nodegroups.TouchNodegroup(n)
		return UpdateKey(n.Cluster(), n.Name(), u.Number), nil
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
			out = append(out, eks.UpdateParam{Type: p.kind, Value: new(p.value)})
		}
	}
	return out
}

// nextFacts are what machines shall be after an update, as it was asked for and as EKS completes it.
func (r *Updates) nextFacts(n *Nodegroup, in *eks.UpdateNodegroupVersionInput) (nodeFacts, error) {
	now := n.Launched[r.Backing.present(n)]
	facts := nodeFacts{Source: now.Source, SourceVersion: now.SourceVersion}
	if in.LaunchTemplate != nil {
		if now.Source == "" {
			return facts, wire.Refuse("InvalidRequestException",
				"You cannot update a node group with a launch template when it was not created with one.")
		}
		v, err := r.Nodegroups.sourceVersion(in.LaunchTemplate)
		if err != nil {
			return facts, err
		}
		if v.Template != now.Source {
			return facts, wire.Refuse("InvalidRequestException",
				"You cannot specify a launch template other than the one that the node group was created with, %s.", now.Source)
		}
		facts.SourceVersion = shapes.Itoa(v.Number)
	}
	if facts.Source != "" {
		if err := r.ownImage(n, in, &facts); err != nil || facts.Own {
			return facts, err
		}
	}
	if n.Shape.AmiType == amiCustom {
		return facts, wire.Refuse("InvalidRequestException", "You cannot change from a custom AMI to an image of Amazon EKS.")
	}
	// "You can update to the latest available AMI version of a node group's current Kubernetes version by not specifying a
	// Kubernetes version in the request."
	facts.Version = cmp.Or(shapes.Str(in.Version), now.Version)
	if err := checkStep(now.Version, facts.Version, shapes.Str(r.Clusters.Rows.Get(n.Cluster()).Shape.Version)); err != nil {
		return facts, err
	}
	return facts, r.chooseRelease(n, in, &facts, now)
}

// ownImage reads the image out of the template, and refuses what must not be beside one that is the user's own.
func (r *Updates) ownImage(n *Nodegroup, in *eks.UpdateNodegroupVersionInput, facts *nodeFacts) error {
	v := r.EC2.Templates.Versions.Get(ec2.VersionKey(facts.Source, int64(shapes.Atoi(facts.SourceVersion))))
	if v == nil {
		return wire.Refuse("InvalidRequestException", "The launch template %s has no version %s.", facts.Source, facts.SourceVersion)
	}
	if err := r.Nodegroups.checkSourceData(v); err != nil {
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
		return wire.Refuse("InvalidRequestException", "You cannot specify an image id in the launch template of a node group of AMI type %s.",
			n.Shape.AmiType)
	case shapes.Str(in.Version) != "":
		return badParameter("You cannot specify the field version when using custom AMIs.")
	case shapes.Str(in.ReleaseVersion) != "":
		return badParameter("You cannot specify the field releaseVersion when using custom AMIs.")
	}
	facts.Own, facts.Image, facts.Release = true, *v.Data.ImageId, *v.Data.ImageId
	return nil
}

// checkStep refuses a Kubernetes version that the node group cannot go to: back, beyond the control plane, or over one.
func checkStep(from, to, control string) error {
	switch a, b := MinorOf(from), MinorOf(to); {
	case b < 0:
		return badParameter("unsupported Kubernetes version")
	case b < a:
		return badParameter("Nodegroup Kubernetes version %s cannot be downgraded to %s", from, to)
	case b > a+1:
		return badParameter("Nodegroup Kubernetes version %s can only be updated to the next minor version, not to %s", from, to)
	case b > MinorOf(control):
		return badParameter("Nodegroup Kubernetes version %s is greater than that of the cluster, %s", to, control)
	}
	return nil
}

// chooseRelease completes the release, which never goes back.
func (r *Updates) chooseRelease(n *Nodegroup, in *eks.UpdateNodegroupVersionInput, facts *nodeFacts, now nodeFacts) error {
	releases := catalogue.ReleasesOf(MinorOf(facts.Version))
	facts.Release = cmp.Or(shapes.Str(in.ReleaseVersion), releases[len(releases)-1])
	if err := checkRelease(n.Shape.AmiType, facts.Version, facts.Release); err != nil {
		return err
	}
	if facts.Version == now.Version && slices.Index(releases, facts.Release) < slices.Index(releases, now.Release) {
		return badParameter("Requested Nodegroup release version %s is invalid. The release version cannot be older than %s", facts.Release,
			now.Release)
	}
	facts.Image = r.Nodegroups.eksImage(n.Shape.AmiType, facts.Version, facts.Release)
	return nil
}
