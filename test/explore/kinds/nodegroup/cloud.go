package nodegroup

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"

	"github.com/muster-project/muster/cloud/wire"
	simaws "github.com/muster-project/muster/sim/aws"
	"github.com/muster-project/muster/test/explore/oracle"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/explore/world"
)

// nodegroup is a node group as it is.
type nodegroup = simaws.Nodegroup

// putCluster sets the present state of the cluster in the simulated EKS.
func (p *pool) putCluster() {
	var subnets []string
	for _, s := range simaws.DefaultAccount().Network.Subnets {
		subnets = append(subnets, s.ID)
	}
	p.World.Must(p.Server.PutCluster(simaws.AccountID, simaws.EKSCluster{
		Name: eksCluster, Version: world.Minor(p.minor), Endpoint: "https://eks.example", CA: []byte("CA"), Token: p.World.Workload.Tokens.Last(),
		Subnets: subnets,
	}), "make the EKS cluster known")
}

// state returns the simulator's state in its own words.
func (p *pool) state() simaws.State { return p.Server.State(simaws.AccountID, simaws.Region) }

// nodegroup returns the node group with the name of the pool, nil if it does not exist.
func (p *pool) nodegroup() *nodegroup {
	list := p.state().Nodegroups
	if at := slices.IndexFunc(list, func(n nodegroup) bool { return n.Name == p.World.Group.Name() }); at >= 0 {
		return &list[at]
	}
	return nil
}

// behind returns the group that keeps a node group's machines, nil when there is none.
func (p *pool) behind(n *nodegroup) *simaws.Group {
	groups := p.state().Groups
	if at := slices.IndexFunc(groups, func(g simaws.Group) bool { return g.Name == n.Group && !g.Deleting }); at >= 0 {
		return &groups[at]
	}
	return nil
}

// upset makes EKS fail, or report a health issue of a node group, or clears that.
func (p *pool) upset(n *nodegroup, e script.Event) error {
	switch e.What {
	case HandBreak:
		code := []string{"AsgInstanceLaunchFailures", "Ec2SubnetInvalidConfiguration", "InsufficientFreeAddresses"}[e.N%3]
		return p.Server.SetIssue(eksCluster, n.Name, code, "played by the explorer")
	case script.HandHeal:
		return p.Server.ClearIssues(eksCluster, n.Name)
	case HandFailEnding:
		return p.Server.StickDeletion(eksCluster, n.Name, "Ec2SecurityGroupDeletionFailure")
	}
	return p.Server.FailUpdate(eksCluster, n.Name)
}

// accepted returns the state after an accepted request has taken effect. A node group changes its size some time after the request.
func (p *pool) accepted(call wire.Call, req *http.Request, after oracle.Cloud) oracle.Cloud {
	if call.Operation == "CreateNodegroup" {
		p.World.Notes.Dropped() // no user has put anything onto the new one
	}
	if call.Operation != "UpdateNodegroupConfig" || req.GetBody == nil {
		return after
	}
	body, err := req.GetBody()
	if err != nil {
		return after
	}
	text, _ := io.ReadAll(body)
	var in struct {
		ScalingConfig struct {
			DesiredSize *int `json:"desiredSize"`
		} `json:"scalingConfig"`
	}
	if json.Unmarshal(text, &in) != nil || in.ScalingConfig.DesiredSize == nil {
		return after
	}
	after.Groups = slices.Clone(after.Groups)
	for k := range after.Groups {
		if g := &after.Groups[k]; g.Name == p.World.Group.Name() {
			g.Size = *in.ScalingConfig.DesiredSize
		}
	}
	return after
}
