package agentpool

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure/agentpool/body"
	"github.com/muster-project/muster/pool"
)

// resizeFeature is the feature of previews by which AKS changes the size of the machines of an agent pool that is a scale set.
const resizeFeature = "Microsoft.ContainerService/AgentPoolVMSSResize"

// resizeAgain is after how long a size that AKS has refused is requested again: the feature may have been registered since.
const resizeAgain = time.Hour

// resizeRefusal is AKS's last refusal to change the size of the machines. The same request is refused until a user changes something, so
// that the agent pool keeps its size meanwhile.
type resizeRefusal struct {
	to, words string
	at        time.Time
}

// holds reports whether AKS has refused a size of late.
func (r resizeRefusal) holds(to string, now time.Time) bool {
	return r.to != "" && strings.EqualFold(r.to, to) && now.Sub(r.at) < resizeAgain
}

// noteResize remembers that AKS refuses to change the size of the machines to another one, where a refusal is about that.
func (w *writer) noteResize(to any, err error) {
	var e *cloud.Error
	text, _ := to.(string)
	named := w.t.withField(err)
	if !errors.As(named, &e) || e.Kind != cloud.Invalid || e.Field != "" && e.Field != w.t.field(body.VMSize) {
		return
	}
	w.memory.resize = resizeRefusal{to: text, words: e.Message, at: w.now}
}

// keepSize leaves the size of the machines as it is where AKS has refused to change it, and tells of it; where it has not been requested
// yet, it tells that AKS may refuse.
func (w *desired) keepSize(t target, refused resizeRefusal, is *agentPool, now time.Time) {
	to, named := w.properties[body.VMSize].(string)
	if !named || is == nil || body.OfVMs(is.properties) || strings.EqualFold(to, is.text(body.VMSize)) {
		return
	}
	field := t.field(body.VMSize)
	if !refused.holds(to, now) {
		w.caveat = &pool.Cause{Reason: "SizeChangeIsPreview", Message: fmt.Sprintf("a change of %s is a preview of AKS for agent pools that are "+
			"scale sets: it needs the feature %s, and AKS refuses sizes of another disk controller, architecture, generation or confidentiality. "+
			"Otherwise create another pool", field, resizeFeature)}
		return
	}
	w.properties[body.VMSize] = is.properties[body.VMSize]
	w.unchangeable = append(w.unchangeable, field)
	w.caveat = &pool.Cause{Reason: "SizeUnchangeable", Message: fmt.Sprintf("AKS refuses to change %s of the agent pool: %s The machines "+
		"keep their size: register the feature %s if the sizes are alike, or create another pool", field, sentence(refused.words), resizeFeature)}
}

// sentence ends a text with a point.
func sentence(text string) string { return strings.TrimSuffix(text, ".") + "." }
