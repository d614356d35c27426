package commands

import (
	"context"
	"strings"

	"github.com/muster-project/muster/cmd/muster/screen"
	"github.com/muster-project/muster/view"
	"github.com/muster-project/muster/view/tree"
)

// follow shows the tree whenever it changes, until ctx ends.
func (t *treeViewer) follow(ctx context.Context, at found, request tree.Request) error {
	on := screen.New(t.out)
	return follower{in: t.in, on: on, namespace: request.Namespace, show: func(ctx context.Context, r *view.Watch, note string) (bool, error) {
		request.Client = r
		return false, t.show(ctx, on, request, note)
	}}.follow(ctx, at)
}

// show reads the tree and brings the screen up to date, with a note below it.
func (t *treeViewer) show(ctx context.Context, on *screen.Screen, request tree.Request, note string) error {
	objects, err := tree.Read(ctx, request)
	if err != nil {
		return err
	}
	var text strings.Builder
	if err := t.write(&text, tree.Build(objects), on); err != nil {
		return err
	}
	if t.output == "text" {
		text.WriteString(noteLines(note, on))
	}
	return on.ShowText(text.String())
}
