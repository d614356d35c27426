package world

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/eks"

	simaws "github.com/muster-project/muster/sim/aws"
	"github.com/muster-project/muster/test/explore/oracle"
)

// nodegroup is a node group as it is.
type nodegroup = simaws.Nodegroup

// putCluster tells the simulated EKS of the cluster, as it is now.
func (a *account) putCluster() {
	var subnets []string
	for _, s := range simaws.DefaultAccount().Network.Subnets {
		subnets = append(subnets, s.ID)
	}
	a.world.must(a.aws.PutCluster(simaws.AccountID, simaws.EKSCluster{
		Name: eksCluster, Version: minor(a.world.minor), Endpoint: "https://eks.example", CA: []byte("CA"), Token: a.world.workload.last(), Subnets: subnets,
	}), "make the EKS cluster known")
}

// nodegroup is the one that has our name, nil when there is none.
func (a *account) nodegroup() *nodegroup {
	if a.aws == nil {
		return nil
	}
	list := a.aws.State(simaws.AccountID, simaws.Region).Nodegroups
	if at := slices.IndexFunc(list, func(n nodegroup) bool { return n.Name == a.world.owner().ResourceName() }); at >= 0 {
		return &list[at]
	}
	return nil
}

// arn is what tags name a node group by.
func (a *account) arn(ctx context.Context, n *nodegroup) (*string, error) {
	found, err := a.byHandEKS.DescribeNodegroup(ctx, &eks.DescribeNodegroupInput{ClusterName: &n.Cluster, NodegroupName: &n.Name})
	if err != nil {
		return nil, err
	}
	return found.Nodegroup.NodegroupArn, nil
}

// behind is the group that keeps a node group's machines, nil when there is none.
func (a *account) behind(n *nodegroup) *simaws.Group { return a.find(n.Group) }

// kept is the group that keeps the pool's machines, nil when there is none.
func (a *account) kept() *simaws.Group {
	if a.azure != nil {
		return nil
	}
	if !a.world.scenario.Managed {
		return a.find(a.world.owner().ResourceName())
	}
	if n := a.nodegroup(); n != nil {
		return a.behind(n)
	}
	return nil
}

// upset has EKS fail, or find fault with a node group, or takes back what is wrong.
func (a *account) upset(n *nodegroup, e Event) error {
	switch e.What {
	case HandBreak:
		code := []string{"AsgInstanceLaunchFailures", "Ec2SubnetInvalidConfiguration", "InsufficientFreeAddresses"}[e.N%3]
		return a.aws.SetIssue(eksCluster, n.Name, code, "played by the explorer")
	case HandHeal:
		return a.aws.ClearIssues(eksCluster, n.Name)
	case HandFailEnding:
		return a.aws.StickDeletion(eksCluster, n.Name, "Ec2SecurityGroupDeletionFailure")
	}
	return a.aws.FailUpdate(eksCluster, n.Name)
}

// nodegroups are those of a state as groups, with the members of what is behind them.
func (a *account) nodegroups(state simaws.State, there there) []oracle.Group {
	behind := map[string]simaws.Group{}
	for _, g := range state.Groups {
		behind[g.Name] = g
	}
	list := make([]oracle.Group, 0, len(state.Nodegroups))
	for _, n := range state.Nodegroups {
		out := oracle.Group{
			Name: n.Name, Owner: n.Tags[tagOwner], Template: n.Source, Version: number(n.SourceVersion), Min: n.Min, Max: n.Max, Size: n.Desired,
			Deleting: n.Status == "DELETING", Failed: strings.HasSuffix(n.Status, "_FAILED"),
			Print: fmt.Sprintf("%d..%d %s %s:%s %s %s %v %v %t", n.Min, n.Max, n.Role, n.Source, n.SourceVersion, n.Version, n.Release, n.Labels, n.Tags,
				n.Status == "DELETING"),
			Tags: n.Tags, Untagged: fmt.Sprintf("%d..%d %s %s:%s %s %s %v %t", n.Min, n.Max, n.Role, n.Source, n.SourceVersion, n.Version, n.Release, n.Labels, n.Status == "DELETING"),
		}
		if g, ok := behind[n.Group]; ok {
			is := a.group(g, there)
			out.Members, out.Content, out.Size = is.Members, is.Content, is.Size
			out.Max = max(out.Max, is.Max) // EKS's own updates go above it
		}
		list = append(list, out)
	}
	return list
}

// ofEKS are the names of the groups and the templates that EKS keeps behind node groups.
func ofEKS(state simaws.State) map[string]bool {
	all := map[string]bool{}
	for _, n := range state.Nodegroups {
		all[n.Group], all[n.Template] = true, true
	}
	return all
}

// roles are those of the account.
func (a *account) roles(state simaws.State) []oracle.Role {
	list := make([]oracle.Role, 0, len(state.Roles))
	for _, r := range state.Roles {
		role := oracle.Role{Name: r.Name, Owner: r.Tags[tagOwner], Print: fmt.Sprintf("%v %v", r.Attached, r.Tags)}
		if slices.Contains(r.Attached, theirPolicy) {
			role.Theirs = []string{theirPolicy}
		}
		list = append(list, role)
	}
	return list
}

// tokenEKS is where the token of a request to EKS is that makes it once.
const tokenEKS = "clientRequestToken"

// askedOfEKS is what a request to EKS asks for, as a trace shows it: in one order, and without the token where the client makes one up.
// It holds no secret.
func askedOfEKS(req *http.Request, body []byte) string {
	var asked map[string]any
	if json.Unmarshal(body, &asked) != nil {
		return req.URL.Path
	}
	if strings.HasSuffix(req.URL.Path, "/update-config") {
		delete(asked, tokenEKS)
	}
	text, err := json.Marshal(asked)
	if err != nil {
		return req.URL.Path
	}
	return req.URL.Path + " " + string(text)
}

// foretold is what will be once a request has been carried out that the cloud only begins: a node group's size is changed some
// time after it was asked for.
func (a *account) foretold(operation string, req *http.Request, after oracle.Cloud) oracle.Cloud {
	if operation != "UpdateNodegroupConfig" || req.GetBody == nil {
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
		if g := &after.Groups[k]; g.Name == a.world.owner().ResourceName() {
			g.Size = *in.ScalingConfig.DesiredSize
		}
	}
	return after
}

// asSpecified is a whole request without the token that the client makes up where the caller gives it none.
func asSpecified(form url.Values) string {
	if form.Get("Action") == "ModifyLaunchTemplate" {
		form.Del("ClientToken")
	}
	return form.Encode()
}
