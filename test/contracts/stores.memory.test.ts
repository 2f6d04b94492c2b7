import { gatesContract } from "./gates.contract.ts";
import { occurrenceStoreContract } from "./occurrence-store.contract.ts";
import { schedulePauseContract } from "./schedule-pause.contract.ts";
import { scheduleStoreContract } from "./schedule-store.contract.ts";
import { newMemoryStores } from "./stores.ts";

occurrenceStoreContract("memory", async () => newMemoryStores());
scheduleStoreContract("memory", async () => newMemoryStores());
schedulePauseContract("memory", async () => newMemoryStores());
gatesContract("memory", async () => newMemoryStores());
