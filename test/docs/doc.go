// Package docs holds what documents say against what is there.
package docs
