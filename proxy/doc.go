// Package proxy keeps the service's key on a server: a page talks with an http.Handler of its own site, which adds the key
// and lets through what the service's interface shows (docs/service-interface.md), and nothing else.
//
// # Whose a chat is
//
// The service knows one key, and so one caller; behind the proxy there are many. Each may use the chats and the files that
// were made for him through the proxy. How a proxy knows them without remembering any: the identifier that a page gets
// carries its own right,
//
//	chat_id  →  chat_id "." base64url(EXPIRY ‖ HMAC-SHA-256(secret, kind, caller, chat_id, EXPIRY))
//
// cut to 128 bits. The page's client takes identifiers as they come and gives them back, so it need not know. Compared with a
// list of identifiers in a cookie, it does not grow, two answers at once do not overwrite each other's list, a page at
// another origin needs no cookies, and an identifier that is shown to somebody else is of no use to him. Any number of
// proxies with the same secrets stand side by side. In answers the proxy puts the sealed identifier where the service's own
// is the whole of a string, in requests the service's own where a member file_id has a sealed one; event streams pass as
// they are. With a Store identifiers stay what they are, and the store says whose they are: then a grant can be taken back,
// and every use renews it.
//
// # Who is a caller
//
// Config.Authorize says. Tokens are the proxy's own way: a page's server, which knows who is logged in, issues a
// short-lived token, the page gives it to the client as its apiKey, and the proxy reads it where the service would read a
// key. Where visitors have no names, Proxy.Visit hands out a token as a cookie that no script can read.
//
// # What it reads
//
// Requests are parsed, checked member by member, and written anew, so that the service reads what was checked: no member
// twice, none that the interface does not show. Headers are allow-lists both ways. The service's idempotency keys get a
// mark of their caller, for two who choose the same would be one operation to a service that knows one key.
//
// # What it can't know
//
// Rates and streams are counted by each process for itself. With AbortOnLeave a turn whose caller has left is stopped by
// the process that served it; a message of the same chat that another process serves at that moment could be stopped in
// its place, so chats should stay with a process then, or the option off. A signed address in a ticket has to be absolute: the
// proxy serves no storage. A key that a service writes into an event stream is made unreadable; in letters of another
// encoding it is not recognised there.
package proxy
