package agentpool

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure/agentpool/body"
	"github.com/muster-project/muster/cloud/azure/session"
)

// nodeImage is the version of a node image, such as AKSUbuntu-2204gen2containerd-202610.01.0; empty where it is unknown. Node images of one
// agent pool are ordered by their release, which is the last part.
type nodeImage string

// release returns the numbers of the release, nil where there is none.
func (i nodeImage) release() []int {
	parts := strings.Split(string(i[strings.LastIndex(string(i), "-")+1:]), ".")
	out := make([]int, 0, len(parts))
	for _, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil
		}
		out = append(out, n)
	}
	return out
}

// before reports whether a node image is older than another one, as far as both are known.
func (i nodeImage) before(o nodeImage) bool {
	mine, others := i.release(), o.release()
	return mine != nil && others != nil && slices.Compare(mine, others) < 0
}

// requestedImage takes the oldest node image that machines may have out of the wanted properties; empty leaves node images to AKS.
func (t target) requestedImage(properties body.Properties) (nodeImage, error) {
	requested, named := properties[body.NodeImage]
	delete(properties, body.NodeImage)
	text, _ := requested.(string)
	if named && nodeImage(text).release() == nil {
		return "", cloud.Invalidf(t.field(body.NodeImage),
			"%v is no version of a node image of the form AKSUbuntu-2204gen2containerd-202610.01.0", requested)
	}
	return nodeImage(text), nil
}

// imageOf returns the node image that a machine was made from: AKS keeps node images as versions in galleries.
func imageOf(storage *armcompute.ImageReference) nodeImage {
	if storage == nil {
		return ""
	}
	parts := map[string]string{}
	segments := strings.Split(ptr.Deref(storage.ID, ""), "/")
	for i := 1; i < len(segments); i++ {
		parts[strings.ToLower(segments[i-1])] = segments[i]
	}
	if parts["versions"] == "" {
		return ""
	}
	return nodeImage(strings.Join([]string{parts["galleries"], parts["images"], parts["versions"]}, "-"))
}

// lacksImageAlone reports whether the agent pool and its machines are as wanted but for an older node image.
func (r clusterRead) lacksImageAlone(w desired) bool {
	wanted := w.next.template()
	if !w.launched.renewed().template().Same(wanted) {
		return false
	}
	older := w.launched.outdated != ""
	members, _ := r.members()
	for _, m := range members {
		is := r.configurationOf(m, w.launched)
		if !is.renewed().template().Same(wanted) {
			return false
		}
		older = older || is.outdated != ""
	}
	return older
}

// leavesBehind reports whether machines have another version or size than the agent pool, which is as wanted, although the last operation
// on it has ended well.
func (r clusterRead) leavesBehind(w desired) bool {
	return !r.pool.gaveUp() && w.launched.renewed().template().Same(w.next.template()) && r.percent(w.launched) < allPercent
}

// checkImage refuses a node image that AKS has not released for the agent pool: an upgrade leads to its newest one.
func (t target) checkImage(ctx context.Context, c *session.Session, requested nodeImage) error {
	reply, err := c.Resource(ctx, session.ResourceRequest{
		Operation: "AgentPools.GetUpgradeProfile", Method: http.MethodGet, Path: t.poolID() + "/upgradeProfiles/default", APIVersion: apiVersion,
	})
	if err != nil {
		return err
	}
	profile, _ := reply.Body["properties"].(map[string]any)
	if newest, _ := profile["latestNodeImageVersion"].(string); nodeImage(newest).before(requested) {
		return cloud.Invalidf(t.field(body.NodeImage), "AKS's newest node image for the agent pool is %s, which is older than %s", newest,
			requested)
	}
	return nil
}
