package infrapool_test

import (
	"context"
	"fmt"
	"slices"
	"time"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

type managedTarget = cloud.Target[*awsv1.ManagedMachinePoolSource]

// eks is a cloud in memory that keeps one node group, as EKS does: it works on it for as long as busy says.
type eks struct {
	now      func() time.Time
	versions []pool.Template
	group    *pool.Group
	list     []pool.Instance
	roll     *pool.ProviderRollout
	issues   []pool.Cause
	// unmet is why what is wanted can't be made; nil when it can.
	unmet error
	calls []string
	seen  []managedTarget
	// asked are the regions and EKS clusters that were looked at.
	asked map[string]bool
}

func newEKS(now func() time.Time) *eks { return &eks{now: now, asked: map[string]bool{}} }

func (e *eks) Traits() pool.Traits {
	return pool.Traits{Group: "node group", Template: "launch template", RemoveBatch: 10, ProviderRollout: true, RolloutOnTemplateChange: true,
		ReplaceKeepsSize: true, Prerequisites: "node role"}
}

// wants returns the template of a target: EKS's own, or the pool's launch template.
func (e *eks) wants(t managedTarget) pool.Template {
	template := t.Spec.Pool.AWSLaunchTemplate
	if template == nil {
		return pool.Template{Content: "eks:" + t.KubernetesVersion, Ref: "eks:" + t.KubernetesVersion, UserManaged: true}
	}
	return pool.Template{Content: "v1:" + template.InstanceType + t.KubernetesVersion, Data: t.Bootstrap.Hash(),
		Description: "instanceType " + template.InstanceType}
}

func (e *eks) Observe(_ context.Context, t managedTarget) (pool.Observed, error) {
	e.seen = append(e.seen, t)
	e.asked[t.Spec.Cluster.Region+"/"+t.Spec.Cluster.EKSClusterName] = true
	o := pool.Observed{Wanted: e.wants(t), Versions: slices.Clone(e.versions), ProviderRollout: e.roll, Issues: slices.Clone(e.issues),
		ResolvedLookups: t.Remembered}
	slices.Reverse(o.Versions)
	if o.Wanted.UserManaged {
		o.Versions = append([]pool.Template{o.Wanted}, o.Versions...)
	}
	o.Wanted.Ref = ""
	if e.unmet != nil {
		return pool.Observed{}, e.unmet
	}
	if e.group != nil {
		group := *e.group
		o.Group, o.Instances = &group, slices.Clone(e.list)
	}
	return o, nil
}

func (e *eks) Start(_ context.Context, t managedTarget, s pool.Step) error {
	e.calls = append(e.calls, string(s.Kind))
	switch s.Kind {
	case pool.PutTemplate:
		version := e.wants(t)
		version.Ref = fmt.Sprintf("lt-1:%d", len(e.versions)+1)
		e.versions = append(e.versions, version)
	case pool.CreateGroup:
		e.group = &pool.Group{ID: "arn:" + t.Owner.ResourceName(), Size: s.Size, Template: s.Template, Created: e.now(),
			Busy: &pool.Cause{Reason: "Creating", Message: "EKS is creating the node group"}}
	case pool.StartProviderRollout:
		e.roll = &pool.ProviderRollout{ID: "u", State: pool.ProviderRolloutRunning, Template: e.wants(t), Started: e.now()}
		e.roll.Template.Ref = s.Template
	case pool.DeleteGroup:
		e.group.Deleting = true
	case pool.DeleteTemplates:
		e.versions = nil
	default:
		return fmt.Errorf("not in these lives: %s", s.Kind)
	}
	return nil
}

// done ends what EKS is at work on: machines are there, or gone.
func (e *eks) done() {
	if e.group.Deleting {
		e.group, e.list = nil, nil
		return
	}
	e.group.Busy = nil
	for len(e.list) < e.group.Size {
		i := pool.Instance{ID: fmt.Sprintf("i-%d", len(e.list)+1), Zone: "zone-a", State: pool.Running, Created: e.now()}
		i.ProviderID = "aws:///zone-a/" + i.ID
		for _, v := range append(e.versions, pool.Template{Ref: e.group.Template, Content: e.group.Template}) {
			if v.Ref == e.group.Template {
				i.Template = v
				break
			}
		}
		e.list = append(e.list, i)
	}
}
