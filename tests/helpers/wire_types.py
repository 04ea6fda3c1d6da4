"""Which type the params and the result of each method have."""

from __future__ import annotations

from typing import Any

from livedex_ipc import exchange_results, request_params, wire_results

RESULTS: dict[str, Any] = {
    "server/info": wire_results.ServerInfo,
    "server/ping": wire_results.Empty,
    "server/reload": wire_results.Empty,
    "server/shutdown": wire_results.Empty,
    "server/restart": wire_results.RestartResult,
    "search": wire_results.SearchResult,
    "search/subscribe": wire_results.SubscribeResult,
    "search/unsubscribe": wire_results.Empty,
    "sync": wire_results.SyncResult,
    "status": wire_results.StatusResult,
    "roots/list": wire_results.RootsResult,
    "roots/add": wire_results.RootsResult,
    "roots/remove": wire_results.RootsResult,
    "index/run": wire_results.IndexRunResult,
    "index/audit": wire_results.AuditResult,
    "files/list": wire_results.FileListResult,
    "files/explain": wire_results.ExplainResult,
    "files/retrieve": wire_results.RetrieveResult,
    "files/delete": wire_results.DeleteResult,
    "exchange/publish": exchange_results.PublishResult,
    "exchange/read": exchange_results.ReadResult,
    "exchange/claim": exchange_results.ClaimResult,
    "exchange/renew": exchange_results.RenewResult,
    "exchange/complete": exchange_results.CompleteResult,
    "exchange/wait": exchange_results.WaitResult,
    "exchange/check": exchange_results.CheckResult,
    "exchange/request": exchange_results.RequestResult,
    "exchange/notify": exchange_results.NotifyResult,
    "exchange/inspect": exchange_results.InspectResult,
    "exchange/stats": exchange_results.ExchangeStatsResult,
}
PARAMS: dict[str, Any] = {
    **dict.fromkeys(RESULTS, request_params.NoParams),
    "search": request_params.SearchParams,
    "search/subscribe": request_params.SubscribeParams,
    "search/unsubscribe": request_params.UnsubscribeParams,
    "sync": request_params.SyncParams,
    "roots/add": request_params.RootsAddParams,
    "roots/remove": request_params.PathParams,
    "index/run": request_params.IndexRunParams,
    "index/audit": request_params.AuditParams,
    "files/list": request_params.FileListParams,
    "files/explain": request_params.ExplainParams,
    "files/retrieve": request_params.RetrieveParams,
    "files/delete": request_params.PathParams,
    "exchange/publish": request_params.ExchangePublishParams,
    "exchange/read": request_params.ExchangeReadParams,
    "exchange/claim": request_params.ExchangeClaimParams,
    "exchange/renew": request_params.ExchangeRenewParams,
    "exchange/complete": request_params.ExchangeCompleteParams,
    "exchange/wait": request_params.ExchangeWaitParams,
    "exchange/check": request_params.ExchangeCheckParams,
    "exchange/request": request_params.ExchangeRequestParams,
    "exchange/inspect": request_params.ExchangeInspectParams,
}
