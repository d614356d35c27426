package nodegroup

import (
	"fmt"
	"time"

	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/muster-project/muster/cloud"
)

const (
	// configRest is how long after the end of a change of the configuration that EKS took and that failed another is asked for. It
	// doubles with every failure in a row up to configRestMost, which is short enough for who has mended what it failed for.
	configRest, configRestMost = 30 * time.Second, 5 * time.Minute
	// configTold is how long such a failure is told of. As long as something is to be changed it is tried again, and tells of itself.
	configTold = time.Hour
)

// rests says that the last changes of the configuration have failed after EKS had taken them, and that the next one waits.
func (p *pass) rests() error {
	list := p.memory.updates.of(ekstypes.UpdateTypeConfigUpdate)
	rest := time.Duration(0)
	for _, u := range list {
		if u.Status != ekstypes.UpdateStatusFailed || rest >= configRestMost {
			break
		}
		rest = min(max(configRest, 2*rest), configRestMost)
	}
	if rest == 0 {
		return nil
	}
	left := list[0].ended.Add(rest).Sub(p.now)
	if left <= 0 {
		return nil
	}
	return &cloud.Error{Kind: cloud.Throttled, Op: "eks:UpdateNodegroupConfig", Code: "UpdateFailed", After: left, Message: fmt.Sprintf(
		"the last change of node group %s failed and the next one is asked for after a pause: %s", p.t.name, reasonOf(list[0].Errors))}
}
