package aws

import (
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/aws/account"
	"github.com/muster-project/muster/sim/aws/autoscaling"
	"github.com/muster-project/muster/sim/aws/ec2"
	"github.com/muster-project/muster/sim/aws/eks"
	"github.com/muster-project/muster/sim/aws/iam"
	"github.com/muster-project/muster/sim/aws/s3"
	"github.com/muster-project/muster/sim/aws/ssm"
	"github.com/muster-project/muster/sim/core"
)

// region holds the state of one account in one region, by service.
type region struct {
	*account.Core
	server      *Server
	IAM         *iam.Service
	EC2         *ec2.Service
	AutoScaling *autoscaling.Service
	EKS         *eks.Service
	SSM         *ssm.Service
	S3          *s3.Service

	core.Schedule
}

func newRegion(s *Server, id, name string, d *iam.Directory) *region {
	base := account.NewCore(s.Environment, id, name)
	base.Strict = s.strict
	r := &region{Core: base, server: s, IAM: iam.New(base, d), SSM: ssm.New(base), S3: s3.New(base, s.accounts.withID(id).Buckets)}
	r.EC2 = ec2.New(base, r.IAM)
	r.AutoScaling = autoscaling.New(base, r.IAM, r.EC2, s.accounts.withID(id).Groups)
	r.EKS = eks.New(base, r.IAM, r.EC2, r.AutoScaling)
	r.EC2.Instances.Managed = r.EKS.Backing.NodeOf
	return r
}

// tables returns what the account holds in the region alone.
func (r *region) tables() core.Tables {
	out := append(r.Core.Tables(), r.EC2.Tables()...)
	out = append(append(out, r.AutoScaling.Tables()...), r.EKS.Tables()...)
	return append(out, r.S3.Objects)
}

// Tables returns what the account holds in the region and, of IAM, in all.
func (r *region) Tables() core.Tables { return append(r.tables(), r.IAM.Directory.Tables()...) }

// Power powers machines on and off as they are wanted.
func (r *region) Power() { r.EC2.Instances.Rows.Power() }

// Tick lets pass what is due by now and returns when something is due next.
func (r *region) Tick(now time.Time) time.Time { return r.Pass(now, r.tick) }

// tick brings the region to the present and returns when something is due next; the zero time means never.
func (r *region) tick(now time.Time) time.Time {
	r.Now = now
	next := r.EC2.Instances.Tick()
	if r.EKS.Clusters.Rows.Len() == 0 {
		return core.Earliest(next, r.AutoScaling.Scaling.Tick())
	}
	r.AutoScaling.Scaling.Tick()
	next = core.Earliest(next, r.EKS.Lifecycle.Tick())
	// What EKS has just requested of its groups and their members has times of its own.
	return core.Earliest(next, r.AutoScaling.Scaling.Tick())
}

// seed puts the network into a realm that is new.
func (r *region) seed(n Network) {
	r.EC2.Network.VPCs.Put(n.VPCID, &ec2.VPC{ID: n.VPCID, CIDR: n.CIDR, Tags: map[string]string{"Name": "muster"}})
	for _, s := range n.Subnets {
		kind := "private"
		if s.Public {
			kind = "public"
		}
		r.EC2.Network.Subnets.Put(s.ID, &ec2.Subnet{ID: s.ID, VPC: n.VPCID, Zone: s.Zone, CIDR: s.CIDR, Public: s.Public, Tags: map[string]string{
			"Name": "muster-" + kind + "-" + s.Zone, "sigs.k8s.io/cluster-api-provider-aws/role": kind,
		}})
	}
	for id, name := range map[string]string{n.NodeSecurityGroupID: "node", n.ControlPlaneSecurityGroupID: "controlplane"} {
		r.EC2.Network.SecurityGroups.Put(id, &ec2.SecurityGroup{
			ID: id, Name: "muster-" + name, Description: "Kubernetes " + name, VPC: n.VPCID,
			Tags: map[string]string{"sigs.k8s.io/cluster-api-provider-aws/role": name},
		})
	}
	r.EC2.Network.KeyPairs.Put(n.KeyName, &ec2.KeyPair{
		ID: "key-0" + sim.Seed(0).Hex(16, r.Account, r.Region, n.KeyName), Name: n.KeyName, Created: r.Now,
		Fingerprint: ec2.Fingerprint(n.KeyName),
	})
}
