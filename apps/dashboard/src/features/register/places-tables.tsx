import type { Market, RegisterView } from '@km0/contracts/dispatch'
import type { Depot } from '@km0/contracts/panel'
import { useTranslations } from 'next-intl'
import { EmptyState } from '../shell/list-state.tsx'
import { ScrollRegion } from '../shell/scroll-region.tsx'
import { prepareDepotRows, prepareMarketRows } from './prepare-register.ts'
import styles from './register.module.css'

interface TableProps<Thing> {
  readonly view: RegisterView
  /** null: whoever looks may not change it. */
  readonly onEdit: ((thing: Thing) => void) | null
}

export function DepotsTable(props: TableProps<Depot>) {
  const { view } = props
  const t = useTranslations('register')
  const rows = prepareDepotRows(view)
  if (rows.length === 0) return <EmptyState kind="waiting" title={t('noDepots')} hint={t('noRowsHint')} />
  return (
    <ScrollRegion className={styles.scroll} labelledBy="register-title">
      <table className={styles.table} aria-labelledby="register-title">
        <thead>
          <tr>
            <th scope="col">{t('id')}</th>
            <th scope="col">{t('name')}</th>
            <th scope="col">{t('place')}</th>
            <th scope="col">{t('marketsOf')}</th>
            <th scope="col">{t('daily')}</th>
            <th scope="col" className={styles.number}>
              {t('parts.vans')}
            </th>
            {props.onEdit !== null && (
              <th scope="col">
                <span className="visually-hidden">{t('edit')}</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ depot, vans, marketNames }) => (
            <tr key={depot.id} data-depot={depot.id}>
              <th scope="row">{depot.id}</th>
              <td>{depot.name}</td>
              <td>
                {depot.lat.toFixed(5)}, {depot.lon.toFixed(5)}
              </td>
              <td className={styles.wide}>{marketNames.length === 0 ? '–' : marketNames.join(', ')}</td>
              <td>{depot.shiftStart === null || depot.shiftEnd === null ? '–' : `${depot.shiftStart}–${depot.shiftEnd}`}</td>
              <td className={styles.number}>{vans}</td>
              {props.onEdit !== null && (
                <td className={styles.actions}>
                  <button type="button" aria-label={t('editVan', { van: depot.name })} onClick={() => props.onEdit?.(depot)}>
                    {t('edit')}
                  </button>
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  )
}

export function MarketsTable(props: TableProps<Market>) {
  const { view } = props
  const t = useTranslations('register')
  const rows = prepareMarketRows(view)
  if (rows.length === 0) return <EmptyState kind="waiting" title={t('noMarkets')} hint={t('noRowsHint')} />
  return (
    <ScrollRegion className={styles.scroll} labelledBy="register-title">
      <table className={styles.table} aria-labelledby="register-title">
        <thead>
          <tr>
            <th scope="col">{t('id')}</th>
            <th scope="col">{t('name')}</th>
            <th scope="col">{t('depotsOf')}</th>
            <th scope="col">{t('zone')}</th>
            {props.onEdit !== null && (
              <th scope="col">
                <span className="visually-hidden">{t('edit')}</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ market, depotNames, positions }) => (
            <tr key={market.id} data-market={market.id}>
              <th scope="row">{market.id}</th>
              <td>{market.name}</td>
              <td className={styles.wide}>{depotNames.length === 0 ? '–' : depotNames.join(', ')}</td>
              <td>{positions === null ? t('noZone') : t('zoneOf', { positions })}</td>
              {props.onEdit !== null && (
                <td className={styles.actions}>
                  <button type="button" aria-label={t('editVan', { van: market.name })} onClick={() => props.onEdit?.(market)}>
                    {t('edit')}
                  </button>
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  )
}
