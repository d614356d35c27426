package instancegroup

import (
	"context"
	"net/http"
	"strings"

	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/test/explore/kinds/gcp"
	"github.com/muster-project/muster/test/explore/world"
)

// theirTemplate is the name of a template that other people or tools have in the project.
const theirTemplate = "by-hand"

// unlessThere creates something, unless it is there: a user whose reply was lost finds it.
func (p *pool) unlessThere(ctx context.Context, path string, body any) error {
	err := p.Ask(ctx, http.MethodPost, path, body)
	if err != nil && strings.Contains(err.Error(), "alreadyExists") {
		return nil
	}
	return err
}

// forAnother makes a group and its template as the ecosystem's provider does: of what the pool asks for at first. That provider names no
// group in its objects: the user does, so that no other is created before the group is adopted.
func (p *pool) forAnother() string {
	s, at := p.World.Scenario, own(p.World.Scenario).location()
	template := world.InfraKey.Name + "-0123456789abcdef"
	p.World.Must(p.World.RetryAsUser(func(ctx context.Context) error {
		return p.unlessThere(ctx, "global/instanceTemplates", map[string]any{"name": template, "properties": p.theirProperties()})
	}), "make a template for another provider")
	body := map[string]any{"name": theirName, "baseInstanceName": world.InfraKey.Name, "targetSize": s.Replicas,
		"instanceTemplate": "global/instanceTemplates/" + template}
	if own(s).Regional {
		var zones []any
		for _, z := range own(s).zones() {
			zones = append(zones, map[string]any{"zone": "zones/" + z})
		}
		body["distributionPolicy"] = map[string]any{"zones": zones}
	}
	p.World.Must(p.World.RetryAsUser(func(ctx context.Context) error {
		return p.unlessThere(ctx, at+"/instanceGroupManagers", body)
	}), "make a group for another provider")
	return groupID(at, theirName)
}

// theirProperties returns the properties of an instance template of the ecosystem's provider.
func (p *pool) theirProperties() document.Object {
	return document.Object{
		"machineType": gcp.MachineType, "canIpForward": true,
		"disks": []any{document.Object{"boot": true, "autoDelete": true, "initializeParams": document.Object{
			"diskType": "pd-standard", "diskSizeGb": "30", "sourceImage": gcp.Image,
		}}},
		"labels": document.Object{"capg-cluster-" + world.ClusterName: "owned", "capg-role": "node", "team": "a"},
		"metadata": document.Object{"items": []any{document.Object{"key": "user-data",
			"value": p.World.Scenario.Boots(p.World.Workload.Tokens.Last())}}},
		"networkInterfaces": []any{document.Object{"network": "projects/" + gcp.Project + "/global/networks/" + world.ClusterName}},
		"serviceAccounts":   []any{document.Object{"email": "default", "scopes": []any{"https://www.googleapis.com/auth/cloud-platform"}}},
		"tags":              document.Object{"items": []any{world.ClusterName, world.ClusterName + "-node"}},
		"scheduling":        document.Object{},
	}
}
