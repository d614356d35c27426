package nodegroup

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

const (
	// maxUpdates bounds the updates that are listed: enough to count failures in a row.
	maxUpdates = 40
	// maxUpdatesPerPass bounds how many updates one pass reads, each in a call of its own.
	maxUpdatesPerPass = 12
	// configPause is how long after the failure of an accepted change of the configuration the next one is sent. It doubles with every
	// failure in a row up to maxConfigPause, which is short enough for a user who has removed the reason of the failure.
	configPause, maxConfigPause = 30 * time.Second, 5 * time.Minute
	// configReported is how long such a failure is reported. A change that is still due is retried, and its failure reported anew.
	configReported = time.Hour
	// maxResources bounds the resources that a message names.
	maxResources = 5
)

// updateHistory holds the newest updates of a node group.
type updateHistory struct {
	// known are the updates by ID, as they were last read; those that have ended do not change any more.
	known map[string]updateRead
	// unread are IDs that were listed and not read yet.
	unread []string
	at     time.Time
	// busy is true if the group was being updated when they were read, creating if it was being created.
	busy, creating bool
	// refused is why EKS did not list or describe them; known is empty then.
	refused driverkit.Refusal
}

// updateRead is one update. EKS reports no end: ended is when it was first seen to have ended.
type updateRead struct {
	ekstypes.Update
	ended time.Time
}

// over reports whether an update has ended, successfully or not.
func (u updateRead) over() bool { return u.Status != ekstypes.UpdateStatusInProgress }

// outcome returns how an update ended.
func (u updateRead) outcome() asg.Outcome {
	switch {
	case !u.over(), u.Status == ekstypes.UpdateStatusCancelled:
		return asg.Undecided
	case u.Status == ekstypes.UpdateStatusSuccessful:
		return asg.Succeeded
	}
	return asg.Failed
}

// quiet reports whether no update was running when the updates were read, and all were read.
func (h updateHistory) quiet() bool {
	return h.refused.Err == nil && !h.at.IsZero() && !h.busy && !h.running() && len(h.unread) == 0
}

// running reports whether an update had not ended.
func (h updateHistory) running() bool {
	for _, u := range h.known {
		if !u.over() {
			return true
		}
	}
	return false
}

// rolls reports whether an update of version or template runs.
func (h updateHistory) rolls() bool {
	list := h.of(ekstypes.UpdateTypeVersionUpdate)
	return len(list) > 0 && !list[0].over()
}

// of returns the updates of a type, newest first.
func (h updateHistory) of(kind ekstypes.UpdateType) []updateRead {
	var list []updateRead
	for _, u := range h.known {
		if u.Type == kind {
			list = append(list, u)
		}
	}
	slices.SortFunc(list, func(a, b updateRead) int {
		return cmp.Or(ptr.Deref(b.CreatedAt, time.Time{}).Compare(ptr.Deref(a.CreatedAt, time.Time{})),
			strings.Compare(ptr.Deref(a.Id, ""), ptr.Deref(b.Id, "")))
	})
	return list
}

// open returns the updates of version or template since the last successful one, oldest first.
func (h updateHistory) open() []updateRead {
	var open []updateRead
	for _, u := range h.of(ekstypes.UpdateTypeVersionUpdate) {
		if u.Status == ekstypes.UpdateStatusSuccessful {
			break
		}
		open = append(open, u)
	}
	slices.Reverse(open)
	return open
}

// configIssue returns why the last change of the configuration failed, nil if it did not.
func (h updateHistory) configIssue(now time.Time) *pool.Cause {
	list := h.of(ekstypes.UpdateTypeConfigUpdate)
	if len(list) == 0 || list[0].Status != ekstypes.UpdateStatusFailed || now.Sub(list[0].ended) > configReported {
		return nil
	}
	reason := "UpdateFailed"
	if len(list[0].Errors) > 0 && list[0].Errors[0].ErrorCode != "" {
		reason = string(list[0].Errors[0].ErrorCode)
	}
	return &pool.Cause{Reason: reason, Message: "the last change of the node group's configuration failed: " + reasonOf(list[0].Errors)}
}

// configPause returns an error while the next change of a group's configuration waits, because the last ones failed after EKS had accepted
// them.
func (h updateHistory) configPause(group string, now time.Time) error {
	list := h.of(ekstypes.UpdateTypeConfigUpdate)
	pause := time.Duration(0)
	for _, u := range list {
		if u.Status != ekstypes.UpdateStatusFailed || pause >= maxConfigPause {
			break
		}
		pause = min(max(configPause, 2*pause), maxConfigPause)
	}
	if pause == 0 {
		return nil
	}
	left := list[0].ended.Add(pause).Sub(now)
	if left <= 0 {
		return nil
	}
	return &cloud.Error{Kind: cloud.Throttled, Op: "eks:UpdateNodegroupConfig", Code: "UpdateFailed", After: left, Message: fmt.Sprintf(
		"the last change of node group %s failed and the next one is asked for after a pause: %s", group, reasonOf(list[0].Errors))}
}

// updateReader reads the updates of one node group into its history.
type updateReader struct {
	session *session.Session
	now     time.Time
	// cluster and group are EKS's names.
	cluster, group string
	slow           *session.SlowReads
	history        *updateHistory
}

// read reads the updates when they may have changed: while one runs, when one has ended, when EKS shows that the group was changed, and
// once in a while. A group that is being deleted has none that matter.
func (r updateReader) read(ctx context.Context, is *ekstypes.Nodegroup) error {
	if is.Status == ekstypes.NodegroupStatusDeleting {
		return nil // nothing is updated any more
	}
	known := r.history
	busy := is.Status == ekstypes.NodegroupStatusUpdating
	if known.refused.Rests(r.now, session.RefusedPeriod) || !busy && known.quiet() && !r.changed(is) {
		return nil
	}
	err := r.readAll(ctx, is, busy)
	if failed := known.refused.Keep(r.now, err); failed != nil || err == nil {
		return failed
	}
	*known = updateHistory{at: r.now, busy: busy, refused: known.refused}
	return nil
}

// changed reports whether updates may have begun or ended since they were read. EKS updates no group that it creates or deletes.
func (r updateReader) changed(is *ekstypes.Nodegroup) bool {
	known := r.history
	if known.creating {
		known.at, known.creating = r.now, is.Status == ekstypes.NodegroupStatusCreating
	}
	changed := ptr.Deref(is.ModifiedAt, time.Time{}).After(known.at.Add(-session.SameMoment)) && is.Status != ekstypes.NodegroupStatusDeleting
	return changed && r.now.Sub(known.at) > session.SameMoment || r.slow.Due(known.at, session.TracedPeriod)
}

// readAll lists the updates, and reads those that are not known to have ended, a few in each pass.
func (r updateReader) readAll(ctx context.Context, is *ekstypes.Nodegroup, busy bool) error {
	known := r.history
	if len(known.unread) == 0 {
		if err := r.list(ctx); err != nil {
			return err
		}
	}
	known.at, known.busy, known.creating = r.now, busy, is.Status == ekstypes.NodegroupStatusCreating
	for n := 0; len(known.unread) > 0 && n < maxUpdatesPerPass; n++ {
		if err := r.readOne(ctx, known.unread[0], is); err != nil {
			return err
		}
		known.unread = known.unread[1:]
	}
	return nil
}

// list lists the updates, and notes those that are not known to have ended.
func (r updateReader) list(ctx context.Context) error {
	pages := eks.NewListUpdatesPaginator(r.session.EKS.ListUpdates, &eks.ListUpdatesInput{Name: &r.cluster, NodegroupName: &r.group})
	ids, err := session.Listed(ctx, pages, func(page *eks.ListUpdatesOutput) []string { return page.UpdateIds }, maxUpdates, r.now)
	if err != nil {
		if session.Absent(err) {
			return nil
		}
		return err
	}
	known := r.history
	kept := map[string]updateRead{}
	for _, id := range ids {
		read, ok := known.known[id]
		if ok {
			kept[id] = read
		}
		if !ok || !read.over() {
			known.unread = append(known.unread, id)
		}
	}
	known.known = kept
	return nil
}

// readOne reads one update.
func (r updateReader) readOne(ctx context.Context, id string, is *ekstypes.Nodegroup) error {
	found, err := r.session.EKS.DescribeUpdate(ctx, &eks.DescribeUpdateInput{Name: &r.cluster, NodegroupName: &r.group, UpdateId: &id})
	if err = session.Refusal(err, r.now); err != nil {
		if session.Absent(err) {
			return nil
		}
		return err
	}
	if found.Update != nil {
		r.history.learn(id, *found.Update, session.OurTime(found.Update.CreatedAt, found.ResultMetadata), is, r.now)
	}
	return nil
}

// learn notes an update. Its end is the group's last change if that was after its beginning, and stays what it was first seen to be.
func (h *updateHistory) learn(id string, u ekstypes.Update, created *time.Time, is *ekstypes.Nodegroup, now time.Time) {
	u.CreatedAt = created
	read := updateRead{Update: u}
	if read.over() {
		read.ended = ptr.Deref(created, time.Time{})
		if changed := ptr.Deref(is.ModifiedAt, time.Time{}); changed.After(read.ended) {
			read.ended = changed
		}
		if read.ended.After(now) {
			read.ended = now
		}
	}
	if h.known == nil {
		h.known = map[string]updateRead{}
	}
	h.known[id] = read
}

// reasonOf returns the errors of an update in EKS's own codes and words, with the resources that they name.
func reasonOf(errors []ekstypes.ErrorDetail) string {
	parts := make([]string, 0, len(errors))
	for _, e := range errors {
		parts = append(parts, errorLine(string(e.ErrorCode), ptr.Deref(e.ErrorMessage, ""), e.ResourceIds))
	}
	return strings.Join(parts, "; ")
}

// errorLine returns a code, a message and the resources that it is about in one line.
func errorLine(code, message string, resources []string) string {
	text := session.Clean(message)
	if code != "" {
		text = strings.TrimSuffix(code+": "+text, ": ")
	}
	list := session.Unique(resources)
	if len(list) == 0 {
		return text
	}
	if more := len(list) - maxResources; more > 0 {
		list = append(list[:maxResources:maxResources], fmt.Sprintf("%d more", more))
	}
	return text + " (" + strings.Join(list, ", ") + ")"
}
