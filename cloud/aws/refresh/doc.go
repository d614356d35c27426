// Package refresh is what the instance refreshes of an Auto Scaling group are about: their history, how far the newest one is, how many in
// a row have failed, and the preferences with which one is started.
package refresh
